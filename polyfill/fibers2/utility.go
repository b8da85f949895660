package fibers2

import "github.com/fiberfill/fiberfill/polyfill"

// The utility instructions are abbreviations; each could be written with those of fibers2.go.
//
// The two that make a fiber have $return_event as an immediate beside their table. It is the first tag of wait here.
// Whoever is woken by it goes on at the next instruction with the new reference, from whomever it comes (B-MNEW-2); so
// label 0 means that, and the labels of the other tags begin at 1.

// MountNew makes a fiber and mounts it; it starts with its function at once, so there is no falling through (B-MNEW-1,
// B-MNEW-5). Transition.To is the new fiber.
func (s *System) MountNew(wait Table) (Transition, Trap) {
	f, trap := s.New(s.Events.First(wait), 0)
	if trap != polyfill.OK {
		return Transition{}, trap
	}
	s.Events.Wait(s.Machine.Active(), wait)
	s.Machine.Enter(f)
	return Transition{To: f, Label: polyfill.Next}, polyfill.OK
}

// SwitchNew makes a fiber and switches to it from f (B-SNEW-1). The new fiber returns to the control parent that it
// inherits; the issuer is woken only when someone enters it (B-SNEW-2).
func (s *System) SwitchNew(f Fiber, wait Table) (Transition, Trap) {
	if trap := s.Machine.CheckInChain(f); trap != polyfill.OK {
		return Transition{}, trap
	}
	t, trap := s.New(s.Events.First(wait), 0)
	if trap != polyfill.OK {
		return Transition{}, trap
	}
	s.Events.Wait(s.Machine.Active(), wait)
	s.Machine.Replace(f, t)
	return Transition{To: t, Label: polyfill.Next}, polyfill.OK
}

// DismountRelease dismounts f and releases it, with all fibers below it (B-DREL-1). If the parent has no handler it
// falls through, and f is not released (B-DREL-2).
func (s *System) DismountRelease(f Fiber, e Event) (Transition, Trap) {
	to, trap := s.Dismount(f, e, 0)
	if s.Machine.State(f) == polyfill.Suspended && trap == polyfill.OK {
		s.Machine.Kill(f)
	}
	return to, trap
}

// SwitchRelease switches from f to t and releases f, with all fibers below it (B-SREL-1, B-SREL-3). If t has no handler
// it falls through, and f is not released. To itself a fiber cannot switch so: it would end before it runs (B-SREL-2).
func (s *System) SwitchRelease(f, t Fiber, e Event) (Transition, Trap) {
	if trap := s.Events.Check(e, 0); trap != polyfill.OK {
		return Transition{}, trap
	}
	if f == t && s.Machine.CheckInChain(f) == polyfill.OK {
		return Transition{}, polyfill.NotSuspended
	}
	to, trap := s.Switch(f, t, e, 0)
	if s.Machine.State(f) == polyfill.Suspended && trap == polyfill.OK {
		s.Machine.Kill(f)
	}
	return to, trap
}
