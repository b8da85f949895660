package polyfill_test

import (
	"testing"

	"github.com/fiberfill/fiberfill/polyfill"
)

// The number of references that one slot can give out; see polyfill.Fiber.
const generations = 1 << 10

// J-ID-1: a reference names one fiber for ever. The loop makes and ends enough fibers to use up one slot three times
// over.
func TestReferencesAreNeverReused(t *testing.T) {
	var m polyfill.Machine
	seen := map[polyfill.Fiber]bool{}
	uses := map[int]int{}
	for i := range 3*generations + 10 {
		f := m.New()
		if f == 0 || f == ^polyfill.Fiber(0) {
			t.Fatalf("New() = %#x after %d fibers: 0 and all ones are not references", f, i)
		}
		if seen[f] {
			t.Fatalf("New() = %#x for the second time, after %d fibers", f, i)
		}
		seen[f] = true
		uses[f.Index()]++
		if i%2 == 0 {
			m.Kill(f)
		} else {
			m.Enter(f)
			m.Return()
		}
	}
	for f := range seen {
		if m.State(f) != polyfill.Moribund {
			t.Fatalf("State(%#x) = %v, want moribund for ever", f, m.State(f))
		}
	}
	if len(uses) != 4 {
		t.Errorf("%d slots in use, want 4: a slot is retired after its last generation and not before", len(uses))
	}
	for index, n := range uses {
		if n > generations {
			t.Errorf("slot %d gave out %d references, there are only %d", index, n, generations)
		}
	}
}

// An invented reference is refused whatever is wrong with it: a slot that does not exist, the slot of the root, a
// generation that is still to come, and the next generation of a slot that is free or in use.
func TestInventedReferences(t *testing.T) {
	var m polyfill.Machine
	if m.State(1) != polyfill.Invalid {
		t.Error("the zero machine knows a fiber")
	}
	used, free := m.New(), m.New()
	m.Kill(free)
	const generation = 1 << 22
	for name, f := range map[string]polyfill.Fiber{
		"no such slot":      polyfill.Fiber(free.Index() + 1),
		"root":              generation,
		"next of used":      used + generation,
		"next of free":      free + generation,
		"last of free":      free + (generations-1)*generation,
		"all ones":          ^polyfill.Fiber(0),
		"highest slot":      generation - 1,
		"highest used slot": generation - 2,
	} {
		if got := m.State(f); got != polyfill.Invalid {
			t.Errorf("%s: State(%#x) = %v, want invalid", name, f, got)
		}
		if _, trap := m.Enter(f); trap != polyfill.UnknownReference {
			t.Errorf("%s: Enter(%#x): trap %q, want %q", name, f, trap, polyfill.UnknownReference)
		}
	}
	if reborn := m.New(); reborn != free+generation {
		t.Errorf("New() = %#x, want the next generation %#x", reborn, free+generation)
	}
}

// No two fibers that are alive share an Index, and it is small.
func TestIndexIsUniqueAmongTheLiving(t *testing.T) {
	var m polyfill.Machine
	byIndex := map[int]polyfill.Fiber{}
	var order []polyfill.Fiber
	for i := range 1000 {
		f := m.New()
		if other, taken := byIndex[f.Index()]; taken {
			t.Fatalf("%#x and %#x live at the same index", f, other)
		}
		if f.Index() < 1 || f.Index() > 500 {
			t.Fatalf("index %d with at most 500 fibers alive", f.Index())
		}
		byIndex[f.Index()] = f
		order = append(order, f)
		if i >= 499 {
			dead := order[i-499]
			m.Kill(dead)
			delete(byIndex, dead.Index())
		}
	}
}

// MaxFibers can be alive at once; one more is the null reference, and the end of any one makes room again.
func TestMaxFibers(t *testing.T) {
	var m polyfill.Machine
	var last polyfill.Fiber
	for range polyfill.MaxFibers {
		last = m.New()
	}
	if last == 0 || m.Live() != polyfill.MaxFibers {
		t.Fatalf("the last of %d fibers is %#x, %d alive", polyfill.MaxFibers, last, m.Live())
	}
	if f := m.New(); f != 0 || m.Live() != polyfill.MaxFibers {
		t.Fatalf("New() = %#x with %d alive, want null", f, m.Live())
	}
	m.Kill(last)
	if f := m.New(); f == 0 || f == last {
		t.Errorf("New() = %#x after one has ended", f)
	}
}
