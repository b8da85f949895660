package polyfill_test

import (
	"testing"

	"github.com/fiberfill/fiberfill/polyfill"
)

// Nothing is allocated but by the growth of one slice: once a machine has held as many fibers as it holds now, no
// operation allocates.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	var m polyfill.Machine
	// A slot serves 1,024 fibers; the spares stand in for those that retire on the way.
	var spare [8]polyfill.Fiber
	for i := range spare {
		spare[i] = m.New()
	}
	for _, f := range spare {
		m.Kill(f)
	}
	allocs := testing.AllocsPerRun(1000, func() {
		p, c := m.New(), m.New()
		token, _ := m.Mint(p)
		f, _ := m.Redeem(token)
		m.Enter(f)
		m.Enter(c)
		m.Detach(p)
		m.Enter(p)
		q := m.New()
		m.Replace(p, q)
		m.Return()
		m.Kill(p)
	})
	if allocs != 0 {
		t.Errorf("%v allocations a round, want 0", allocs)
	}
}

func BenchmarkEnterDetach(b *testing.B) {
	var m polyfill.Machine
	f := m.New()
	for b.Loop() {
		m.Enter(f)
		m.Detach(f)
	}
}

func BenchmarkNewEnterReturn(b *testing.B) {
	var m polyfill.Machine
	for b.Loop() {
		f := m.New()
		if f == 0 { // every reference has been used
			m = polyfill.Machine{}
			continue
		}
		m.Enter(f)
		m.Return()
	}
}
