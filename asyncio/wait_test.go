//go:build !tinygo

package asyncio

import (
	"errors"
	"testing"
)

// A long-lived fiber forgets cancelled waits for it, and remembers the waits that are still open.
func TestWait_leaves_nothing_behind_when_it_is_cancelled(t *testing.T) {
	over := errors.New("over")
	err := Run(t.Context(), func(f *Fiber) error {
		long := f.Go("long", func(f *Fiber) error { return f.wait("its end") })
		var patient []*Fiber
		for i := range 1000 {
			if i%10 == 0 {
				patient = append(patient, f.Go("patient", func(f *Fiber) error { return f.Wait(long) }))
			}
			Race(f,
				func(f *Fiber) (int, error) { return 0, f.Wait(long) },
				func(f *Fiber) (int, error) { return 0, errors.Join(f.Yield(), f.Yield()) })
			if most := 2*len(patient) + 2; len(long.waiters) > most {
				t.Fatalf("%d are remembered, want %d at most", len(long.waiters), most)
			}
		}
		long.Cancel(over)
		for _, p := range patient {
			if err := f.Wait(p); err != over {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
