package asyncio

import (
	"testing"

	"github.com/fiberfill/fiberfill/polyfill"
)

// Fibers that enter fibers. No driver can do this through the wire contract yet; the packages of the proposals do it
// with the scheduler's own machine.

// newChain returns a scheduler with a running chain: the scheduler > outer > inner.
func newChain(t *testing.T) (s *Scheduler, outer, inner polyfill.Fiber) {
	s = new(Scheduler)
	s.Init(DefaultBudget, 1, 1)
	outer = s.Spawn()
	if c := s.Turn(0); c.Fiber() != outer {
		t.Fatalf("Turn() = %#x, want %#x", c, outer)
	}
	inner = s.Machine.New()
	if leaf, trap := s.Machine.Enter(inner); leaf != inner || trap != polyfill.OK {
		t.Fatalf("Enter() = %#x, %q", leaf, trap)
	}
	return s, outer, inner
}

func want[T ~uint32](t *testing.T, what string, got T, want polyfill.Fiber) {
	t.Helper()
	if uint32(got) != uint32(want) {
		t.Fatalf("%s = %#x, want %#x", what, got, want)
	}
}

func TestChainWaitsAsOne(t *testing.T) {
	t.Run("J-MUX-3 J-MUX-5: the whole chain waits, its leaf is notified, and only the scheduler enters it",
		func(t *testing.T) {
			s, outer, inner := newChain(t)
			want(t, "Wait", s.Wait(0), polyfill.Fiber(Idle))
			a, b := s.Machine.State(outer), s.Machine.State(inner)
			if a != polyfill.Suspended || b != polyfill.Carried {
				t.Fatalf("outer is %v, inner is %v", a, b)
			}
			if s.Notify(outer, 1) {
				t.Error("the outer fiber was notified, although only the leaf waits")
			}
			if !s.Notify(inner, 1) {
				t.Fatal("the leaf waits, but was not notified")
			}
			if _, trap := s.Machine.Enter(inner); trap != polyfill.NotSuspended {
				t.Errorf("the leaf was entered from outside: trap %q", trap)
			}
			want(t, "Turn", s.Turn(1), inner)
			want(t, "parent of the leaf", s.Machine.Parent(inner), outer)
			want(t, "Finish of the inner one", s.Finish(false, 1), outer)
			want(t, "Finish of the outer one", s.Finish(false, 1), polyfill.Fiber(Idle))
		})
	t.Run("sleep and yield take the chain along", func(t *testing.T) {
		s, outer, inner := newChain(t)
		want(t, "Yield", s.Yield(0), inner)
		want(t, "Sleep", s.Sleep(10, 0), polyfill.Fiber(Idle))
		if at, ok := s.Deadline(); at != 10 || !ok {
			t.Errorf("Deadline() = %v, %v", at, ok)
		}
		want(t, "Turn", s.Turn(10), inner)
		want(t, "parent of the leaf", s.Machine.Parent(inner), outer)
	})
	t.Run("a fiber that did not come from Spawn counts its waits from one, even in a reused place", func(t *testing.T) {
		s, _, inner := newChain(t)
		for round := range 3 {
			s.Wait(0)
			if !s.Notify(inner, 1) {
				t.Fatalf("round %d: the first wait is not number 1", round)
			}
			want(t, "Turn", s.Turn(0), inner)
			s.Finish(false, 0)
			next := s.Machine.New()
			if next.Index() != inner.Index() {
				t.Fatalf("not the same place")
			}
			inner = next
			s.Machine.Enter(inner)
		}
	})
	t.Run("a timer does not outlive its wait when another fiber enters the chain", func(t *testing.T) {
		s := new(Scheduler)
		s.Init(DefaultBudget, 2, 2)
		sleeper, other := s.Spawn(), s.Spawn()
		want(t, "Turn", s.Turn(0), sleeper)
		want(t, "Sleep", s.Sleep(10, 0), other)
		s.Machine.Enter(sleeper) // by other, which becomes its parent
		want(t, "Wait", s.Wait(0), polyfill.Fiber(Idle))
		if at, ok := s.Deadline(); ok {
			t.Errorf("Deadline() = %v for a sleep that is over", at)
		}
		want(t, "Turn at the old deadline", s.Turn(10), polyfill.Fiber(Idle))
		if !s.Notify(sleeper, 2) {
			t.Error("the second wait is not open")
		}
	})
	t.Run("K-9: a trap ends the chain and frees one place", func(t *testing.T) {
		s, outer, inner := newChain(t)
		next, last := s.Spawn(), s.Spawn() // the hard limit is one: they wait
		want(t, "Finish by trap", s.Finish(true, 0), next)
		want(t, "Wait of the next", s.Wait(0), polyfill.Fiber(Idle)) // last has no place yet
		if s.Machine.Live() != 2 || s.Machine.State(last) != polyfill.Suspended {
			t.Errorf("%d alive, want the two that waited", s.Machine.Live())
		}
		for _, f := range []polyfill.Fiber{outer, inner} {
			if s.Machine.State(f) != polyfill.Moribund {
				t.Errorf("%#x is %v", f, s.Machine.State(f))
			}
		}
	})
}

// A fiber begun inside a call ends by a trap, with all fibers that it has entered; the fiber that made the call goes
// on.
func TestTrapEndsWhatACallHasBegun(t *testing.T) {
	t.Run("K-9", func(t *testing.T) {
		s := new(Scheduler)
		s.Init(DefaultBudget, 2, 2)
		caller := s.Spawn()
		want(t, "Turn", s.Turn(0), caller)
		begun, started := s.Begin()
		if !started {
			t.Fatal("it has not begun")
		}
		inner, innermost := s.Machine.New(), s.Machine.New()
		s.Machine.Enter(inner)
		s.Machine.Enter(innermost)
		want(t, "Finish by trap", s.Finish(true, 0), polyfill.Fiber(Idle)) // back to the caller of Begin
		want(t, "who runs", s.Machine.Active(), caller)
		for _, f := range []polyfill.Fiber{begun, inner, innermost} {
			if s.Machine.State(f) != polyfill.Moribund {
				t.Errorf("%#x is %v", f, s.Machine.State(f))
			}
		}
		want(t, "Finish of the caller", s.Finish(false, 0), polyfill.Fiber(Idle))
	})
}

// J-MUX-10: a fiber that was made and abandoned is not outstanding. Nothing would ever wake it, so there is no reason
// to pause.
func TestAbandonedFiberIsNotOutstanding_J_MUX_10(t *testing.T) {
	s, _, inner := newChain(t)
	s.StartLog()
	s.Machine.Detach(inner)
	want(t, "Finish", s.Finish(false, 0), polyfill.Fiber(Idle))
	if log := s.Log(); log[len(log)-1].Event != Completed {
		t.Errorf("the last event is %q, want %q", log[len(log)-1].Event, Completed)
	}
}

// A step while no fiber runs is a bug in the driver. Going on would corrupt the count of places, or make a wait without
// a fiber.
func TestStepWithoutFiberPanics(t *testing.T) {
	for name, step := range map[string]func(s *Scheduler){
		"Wait":   func(s *Scheduler) { s.Wait(0) },
		"Sleep":  func(s *Scheduler) { s.Sleep(1, 0) },
		"Yield":  func(s *Scheduler) { s.Yield(0) },
		"Finish": func(s *Scheduler) { s.Finish(false, 0) },
		"trap":   func(s *Scheduler) { s.Finish(true, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			var s Scheduler
			s.Init(DefaultBudget, 1, 1)
			s.Spawn()
			step(&s)
		})
	}
}

// Only the growth of queues allocates.
func TestSchedulerSteadyStateAllocatesNothing(t *testing.T) {
	var s Scheduler
	s.Init(DefaultBudget, 4, 8)
	now := 0.0
	round := func() {
		var fibers [8]polyfill.Fiber
		for i := range fibers {
			fibers[i] = s.Spawn()
		}
		s.Drop(fibers[7])
		left := 7
		waits := [4]uint32{}
		c := s.Turn(now)
		for steps := 0; left > 0; steps++ {
			switch {
			case steps > 10_000:
				t.Fatalf("%d fibers never end: places have leaked", left)
			case c == Idle || c == TurnOver:
				now += 2
				for i, f := range fibers[:3] {
					s.Notify(f, waits[i])
				}
				c = s.Turn(now)
			case c.Fiber() == fibers[0] && waits[0] < 3:
				waits[0]++
				c = s.Wait(now)
			case c.Fiber() == fibers[1] && waits[1] < 3:
				waits[1]++
				c = s.Sleep(now+1000, now)
			case c.Fiber() == fibers[2] && waits[2] < 3:
				waits[2]++
				c = s.Sleep(now+1, now)
			case c.Fiber() == fibers[3] && waits[3] < 3:
				waits[3]++
				c = s.Yield(now)
			default:
				left--
				c = s.Finish(false, now)
			}
		}
	}
	for range 3000 { // until some places are retired and others are free
		round()
	}
	if allocs := testing.AllocsPerRun(50, round); allocs != 0 {
		t.Errorf("%v allocations a round, want 0", allocs)
	}
	if len(s.timers.heap) != 0 || s.admitted != 0 {
		t.Errorf("%d timers and %d places are left", len(s.timers.heap), s.admitted)
	}
}

// A yield through a ready queue of 100 fibers, as in a page.
func BenchmarkYield(b *testing.B) {
	var s Scheduler
	s.Init(1e18, 1000, 1000)
	for range 100 {
		s.Spawn()
	}
	s.Turn(0)
	for b.Loop() {
		s.Yield(0)
	}
}

// A guest's own operation may switch to a fiber that waits. Once it has run, that wait is over.
func TestYieldOfAFiberThatWasSwitchedTo(t *testing.T) {
	s := new(Scheduler)
	s.Init(DefaultBudget, 3, 3)
	waits, switches, last := s.Spawn(), s.Spawn(), s.Spawn()
	want(t, "Turn", s.Turn(0), waits)
	want(t, "Wait", s.Wait(0), switches)
	if leaf, trap := s.Machine.Replace(switches, waits); leaf != waits || trap != polyfill.OK {
		t.Fatalf("Replace() = %#x, %q", leaf, trap)
	}
	want(t, "Yield", s.Yield(0), last)
	if s.Notify(waits, 2) {
		t.Error("a yield was notified")
	}
}
