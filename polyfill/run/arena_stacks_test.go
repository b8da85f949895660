package run_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fiberfill/fiberfill/internal/leaktest"
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
	"github.com/fiberfill/fiberfill/polyfill/stacks"
)

// The protocol of the arena over stack references (C-FIB-3, C-FIB-4).
const (
	resume, cancel   = 0, 1 // from the arena
	pause, terminate = 0, 1 // from the fiber, with the total
)

var (
	suspendedFiber = stacks.Awaits{Values: polyfill.List(polyfill.I32)}                               // command
	suspendedArena = stacks.Awaits{Values: polyfill.List(polyfill.I32, polyfill.I32), Nullable: true} // total, code
)

// fiberC is $fiber of seed 003: its reference while it is suspended, null while it is active or dead, and the arena's
// (C-FIB-1, C-FIB-2).
type fiberC struct{ stack, arena polyfill.Token }

type arenaC struct {
	*run.Stacks
	fibers []*fiberC
	log    []string
}

// pause is $pause: it gives the arena control and returns the next command.
func (a *arenaC) pause(f *fiberC, total int32) (command int32) {
	v, arena := a.Switch(f.arena, suspendedFiber, run.I32(total), run.I32(pause))
	f.arena = arena
	return v.I32(0)
}

func (a *arenaC) adderFiber(f *fiberC, els []int32) run.StackFunc {
	return func(v run.Values, arena polyfill.Token) {
		f.arena = arena
		command := v.I32(0)
		g := &generatorC{Stacks: a.Stacks, els: els, bound: true}
		var generator polyfill.Token
		if command == resume {
			generator = g.Bind(g.New("generator", initGen, g.arrayGenerator), run.I32(0), run.I32(int32(len(els))))
		}
		total := int32(0)
		for command == resume {
			v, generator = g.Switch(generator, fromConsumer)
			if generator == (polyfill.Token{}) {
				break
			}
			total += v.I32(0)
			command = a.pause(f, total)
		}
		a.SwitchRetire(f.arena, run.I32(total), run.I32(terminate))
	}
}

// activate sends a command to fiber ix and keeps its new reference, null if it is over.
func (a *arenaC) activate(t *testing.T, ix int, command int32) (total, code int32) {
	f := a.fibers[ix]
	stack := f.stack
	f.stack = polyfill.Token{}
	v, back := a.Switch(stack, suspendedArena, run.I32(command))
	total, code = v.I32(0), v.I32(1)
	if (code == terminate) != (back == polyfill.Token{}) {
		t.Errorf("fiber %d answers %d with the reference %v", ix, code, back)
	}
	f.stack = back
	return total, code
}

func (a *arenaC) run(t *testing.T) int32 {
	for ix := 0; ; ix = (ix + 1) % len(a.fibers) {
		total, code := a.activate(t, ix, resume)
		if code == pause {
			a.log = append(a.log, fmt.Sprintf("t%d pause", ix))
			continue
		}
		a.log = append(a.log, fmt.Sprintf("t%d finish %d", ix, total))
		for jx := range a.fibers {
			if jx != ix {
				rest, code := a.activate(t, jx, cancel)
				if code != terminate {
					panic("a fiber answers cancel with pause")
				}
				a.log = append(a.log, fmt.Sprintf("cancel t%d finish %d", jx, rest))
			}
		}
		return total
	}
}

func TestArenaC(t *testing.T) {
	leaktest.Goroutines(t)
	for _, c := range []struct {
		name     string
		segments [][]int32
		want     int32
		log      []string
	}{
		{"three fibers", [][]int32{{1, 2, 3}, {10}, {5, 5, 5, 5}}, 10,
			[]string{"t0 pause", "t1 pause", "t2 pause", "t0 pause", "t1 finish 10", "cancel t0 finish 3", "cancel " +
				"t2 finish 5"}},
		{"cancelled before the first activation", [][]int32{{}, {7}}, 0, []string{"t0 finish 0", "cancel t1 finish 0"}},
	} {
		t.Run("S-PAUSE-C S-ARENA-C "+c.name, func(t *testing.T) {
			a := &arenaC{Stacks: run.NewStacks()}
			defer a.Close() // a cancelled adder drops its generator, which cannot be ended then (C-REF-7)
			got, err := a.Call(func() []run.Value {
				for _, els := range c.segments {
					f := new(fiberC)
					f.stack = a.New("adder", suspendedFiber, a.adderFiber(f, els))
					a.fibers = append(a.fibers, f)
				}
				return i32(a.run(t))
			})
			if err != nil || numbers(got) != c.want || !slices.Equal(a.log, c.log) {
				t.Errorf("total %v, error %v, log %q; want %d, %q", got, err, a.log, c.want, c.log)
			}
			for i, f := range a.fibers {
				if f.stack != (polyfill.Token{}) {
					t.Errorf("fiber %d has still a stack", i)
				}
			}
		})
	}
}
