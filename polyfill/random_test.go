package polyfill_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/polyfill"
)

var seed = flag.Uint64("seed", 0, "seed of the random tests; 0: a new one")

// duel plays one list of operations on the machine and on its twin.
type duel struct {
	t       testing.TB
	machine polyfill.Machine
	twin    twin
	known   []polyfill.Fiber // references to choose from: fibers that live, and some that are over
	tokens  []polyfill.Token
	twins   []*twinToken // of tokens
	checks  int
	last    string
}

// play takes two bytes an operation: what, and on which operands. Every list of bytes is a list of operations.
func play(t testing.TB, list []byte) {
	d := &duel{t: t, twin: twin{all: map[polyfill.Fiber]*twinFiber{}}, tokens: make([]polyfill.Token, 1),
		twins: make([]*twinToken, 1)}
	for i := 0; i+1 < len(list); i += 2 {
		d.step(list[i], list[i+1])
		d.compare()
	}
}

// pick chooses a reference: null, an invented one, or a known one.
func (d *duel) pick(n byte) polyfill.Fiber {
	switch i := int(n % 16); {
	case i < len(d.known):
		return d.known[i]
	case i == 15:
		return polyfill.Fiber(n) << 20
	}
	return 0
}

func (d *duel) same(op string, got, want any) {
	if got != want {
		d.t.Fatalf("%s = %v, the twin says %v", op, got, want)
	}
}

type outcome struct {
	fiber polyfill.Fiber
	trap  polyfill.Trap
}

func of(f polyfill.Fiber, trap polyfill.Trap) outcome { return outcome{f, trap} }

func (d *duel) step(op, operands byte) {
	m, w := &d.machine, &d.twin
	f, g := d.pick(operands), d.pick(operands>>4)
	d.last = fmt.Sprintf("operation %d on %#x, %#x", op%16, f, g)
	switch op % 16 {
	case 0, 1:
		d.create()
	case 2, 3, 4, 5:
		d.same("Enter", of(m.Enter(f)), of(w.enter(f)))
	case 6, 7:
		d.same("Detach", of(m.Detach(f)), of(w.detach(f)))
	case 8, 9:
		d.same("Replace", of(m.Replace(f, g)), of(w.replace(f, g)))
	case 10:
		d.same("Kill", m.Kill(f), w.kill(f))
	case 11:
		d.same("Return", of(m.Return()), of(w.ret()))
	case 12:
		if operands < 64 { // rarely: it ends much
			m.Unwind()
			w.unwind()
		}
	case 13:
		token, trap := m.Mint(f)
		twinned, want := w.mint(f)
		d.same("Mint", trap, want)
		d.tokens, d.twins = append(d.tokens, token), append(d.twins, twinned)
	case 14, 15:
		i := int(operands) % len(d.tokens)
		if op%16 == 14 {
			i = len(d.tokens) - 1
		}
		check := m.Check(d.tokens[i])
		got := of(m.Redeem(d.tokens[i]))
		d.same("Redeem", got, of(w.redeem(d.twins[i])))
		d.same("Check before it", check, got.trap)
	}
}

// create makes a fiber and keeps the number of known fibers below 15: it forgets the oldest one that is over, or, if
// none is over, makes no fiber.
func (d *duel) create() {
	if len(d.known) == 15 {
		for i, f := range d.known {
			if d.twin.state(f) == polyfill.Moribund {
				d.known = append(d.known[:i], d.known[i+1:]...)
				break
			}
		}
		if len(d.known) == 15 {
			return
		}
	}
	f := d.machine.New()
	if d.twin.all[f] != nil || f == 0 {
		d.t.Fatalf("New() = %#x, which is null or was given out before", f)
	}
	d.twin.add(f)
	d.known = append(d.known, f)
	if len(d.tokens) > 100 {
		d.tokens, d.twins = d.tokens[80:], d.twins[80:]
	}
	// A fiber that is over for long is not looked at any more, except by chance: it must not slow the twin down.
	if len(d.twin.all) > 40 {
		for r, f := range d.twin.all {
			if f.over && !d.isKnown(r) {
				if d.machine.State(r) != polyfill.Moribund {
					d.t.Fatalf("State(%#x) = %v long after its end", r, d.machine.State(r))
				}
				delete(d.twin.all, r)
			}
		}
	}
}

func (d *duel) isKnown(r polyfill.Fiber) bool {
	for _, f := range d.known {
		if f == r {
			return true
		}
	}
	return false
}

// compare asks both everything that can be asked.
func (d *duel) compare() {
	m, w := &d.machine, &d.twin
	d.same("Active after "+d.last, m.Active(), ref(w.active()))
	d.checks++
	if d.checks%4 != 0 {
		return
	}
	d.same("Live after "+d.last, m.Live(), w.live())
	parents := w.parents()
	for _, f := range d.known {
		state := w.state(f)
		if got := m.State(f); got != state {
			d.t.Fatalf("after %s: State(%#x) = %v, the twin says %v", d.last, f, got, state)
		}
		if m.Started(f) != w.all[f].started || m.Leaf(f) != w.leaf(f) || m.Parent(f) != parents[f] {
			d.t.Fatalf("after %s: %#x, %v: started %v, leaf %#x, parent %#x; the twin says %v, %#x, %#x", d.last,
				f, state, m.Started(f), m.Leaf(f), m.Parent(f), w.all[f].started, w.leaf(f), parents[f])
		}
	}
}

// The machine and its twin agree on 200,000 random operations. The lists are long enough for slots to be retired.
func TestMachineAgainstTwin(t *testing.T) {
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("replay with: go test ./polyfill -run TestMachineAgainstTwin -seed %d", s)
	random := rand.New(rand.NewPCG(s, 0))
	for range 4 {
		list := make([]byte, 2*50_000)
		for i := range list {
			list[i] = byte(random.Uint32())
		}
		play(t, list)
	}
}

func FuzzMachine(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 2, 0, 2, 1, 6, 0, 2, 0}) // a child suspends its parent
	f.Add([]byte{0, 0, 0, 0, 2, 0, 8, 0x10, 8, 0x01, 11, 0})
	f.Add([]byte{0, 0, 13, 0, 13, 0, 15, 1, 14, 0, 2, 0, 12, 0})
	f.Fuzz(func(t *testing.T, list []byte) { play(t, list) })
}
