package run_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fiberfill/fiberfill/internal/leaktest"
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// adders are adderThread and cancelingArena of fibers v1.
type adders struct {
	*generatorA
	goAhead, cancel, pause, finish *run.Tag
	onCommand, onAnswer            polyfill.Table
	threads, generators            []polyfill.Fiber
	log                            []string
}

func newAdders() *adders {
	a := &adders{generatorA: newGeneratorA()}
	a.goAhead, a.cancel = a.Tag("go_ahead"), a.Tag("cancel_thread")
	a.pause, a.finish = a.Tag("pause_"), a.Tag("finish_", polyfill.I32)
	a.onCommand, a.onAnswer = a.On(a.goAhead, a.cancel), a.On(a.pause, a.finish)
	return a
}

func (a *adders) add(els []int32) {
	generator := a.start(els)
	a.generators = append(a.generators, generator)
	a.threads = append(a.threads, a.New("adder", polyfill.List(polyfill.I32), a.onCommand, a.adderThread(generator)))
}

func (a *adders) adderThread(generator polyfill.Fiber) run.Func {
	return func(self polyfill.Fiber, e run.Event) []run.Value {
		if e.Tag == a.cancel { // never started: it answers by returning
			a.Release(generator)
			return i32(0)
		}
		total := int32(0)
		for e.Tag == a.goAhead {
			switch e := a.Resume(generator, a.onYield, a.next); e.Tag {
			case a.yield:
				total += e.I32(0)
			default:
				a.Retire(self, a.finish, run.I32(total))
			}
			e = a.Suspend(self, a.onCommand, a.pause)
		}
		a.Release(generator)
		a.Retire(self, a.finish, run.I32(total))
		return nil
	}
}

// cancelingArena runs the threads in turns until the first finishes, and cancels the others.
func (a *adders) cancelingArena(threads []polyfill.Fiber) int32 {
	if len(threads) == 0 {
		panic("an arena without threads")
	}
	for ix := 0; ; ix = (ix + 1) % len(threads) {
		switch e := a.Resume(threads[ix], a.onAnswer, a.goAhead); e.Tag {
		case a.pause:
			a.log = append(a.log, fmt.Sprintf("t%d pause", ix))
		case a.finish:
			total := e.I32(0)
			a.log = append(a.log, fmt.Sprintf("t%d finish %d", ix, total))
			a.cancelOthers(threads, ix)
			return total
		}
	}
}

func (a *adders) cancelOthers(threads []polyfill.Fiber, finisher int) {
	for jx, thread := range threads {
		if jx == finisher {
			continue
		}
		switch e := a.Resume(thread, a.onAnswer, a.cancel); e.Tag {
		case a.finish:
			a.log = append(a.log, fmt.Sprintf("cancel t%d finish %d", jx, e.I32(0)))
		case nil:
			a.log = append(a.log, fmt.Sprintf("cancel t%d returned %d", jx, e.I32(0)))
		case a.pause:
			panic("a thread answers cancel with pause")
		}
	}
}

func (a *adders) wantAllOver(t *testing.T) {
	t.Helper()
	for i := range a.threads {
		if s, g := a.State(a.threads[i]), a.State(a.generators[i]); s != polyfill.Moribund || g != polyfill.Moribund {
			t.Errorf("thread %d is %v, its generator %v; want both moribund", i, s, g)
		}
	}
}

func TestAdder(t *testing.T) {
	leaktest.Goroutines(t)
	for name, els := range lists {
		for k := -1; k <= len(els); k++ { // cancelled after k go_aheads; -1: not at all
			t.Run(fmt.Sprintf("S-ADDER %s cancelled after %d", name, k), func(t *testing.T) {
				a := newAdders()
				defer a.Close()
				_, err := a.Call(func() []run.Value {
					a.add(els)
					for i := range els {
						if i == k {
							break
						}
						if e := a.Resume(a.threads[0], a.onAnswer, a.goAhead); e.Tag != a.pause {
							t.Fatalf("go_ahead %d: %v, want pause_", i+1, e.Tag)
						}
					}
					command, want := a.goAhead, sum(els)
					if k >= 0 {
						command, want = a.cancel, sum(els[:k])
					}
					e := a.Resume(a.threads[0], a.onAnswer, command)
					wantTag := map[bool]*run.Tag{true: nil, false: a.finish}[k == 0]
					if e.Tag != wantTag || e.I32(0) != want {
						t.Errorf("%v %v, want %v %d", e.Tag, e.Values, wantTag, want)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				a.wantAllOver(t)
			})
		}
	}
}

func TestArenaA(t *testing.T) {
	leaktest.Goroutines(t)
	for _, c := range []struct {
		name     string
		segments [][]int32
		want     int32
		log      []string
	}{
		{"three threads", [][]int32{{1, 2, 3}, {10}, {5, 5, 5, 5}}, 10,
			[]string{"t0 pause", "t1 pause", "t2 pause", "t0 pause", "t1 finish 10", "cancel t0 finish 3", "cancel " +
				"t2 finish 5"}},
		{"an empty segment", [][]int32{{}, {7}}, 0, []string{"t0 finish 0", "cancel t1 returned 0"}},
		{"one thread", [][]int32{{4}}, 4, []string{"t0 pause", "t0 finish 4"}},
	} {
		t.Run("S-ARENA-A "+c.name, func(t *testing.T) {
			a := newAdders()
			defer a.Close()
			got, err := a.Call(func() []run.Value {
				for _, els := range c.segments {
					a.add(els)
				}
				return i32(a.cancelingArena(a.threads))
			})
			if err != nil || numbers(got) != c.want || !slices.Equal(a.log, c.log) {
				t.Errorf("total %v, error %v, log %q; want %d, %q", got, err, a.log, c.want, c.log)
			}
			a.wantAllOver(t)
		})
	}
	t.Run("S-ARENA-A no threads trap", func(t *testing.T) {
		a := newAdders()
		defer a.Close()
		_, err := a.Call(func() []run.Value { return i32(a.cancelingArena(nil)) })
		wantTrap(t, err, polyfill.Unreachable, "K-9")
	})
}
