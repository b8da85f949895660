package fibers2

import "github.com/fiberfill/fiberfill/polyfill"

// The utility instructions are abbreviations; each could be written with those of fibers2.go.
//
// MountNew and SwitchNew have $return_event as an immediate beside their table. Here it is the first tag of wait. An
// issuer that this event wakes goes on at the next instruction, whichever fiber sent the event (B-MNEW-2). The labels
// of the other tags are their places in wait, from 1. Every event brings the new reference, in Plan.Made (B-MNEW-3).

// MountNew makes a fiber and mounts it; it starts with its function at once, so there is no falling through (B-MNEW-1,
// B-MNEW-5). Plan.To is the new fiber.
func (s *System) MountNew(wait Table) Trap {
	s.last = opMountNew
	f, issuer, trap := s.begin(wait)
	if trap != polyfill.OK {
		return trap
	}
	s.Machine.Enter(f)
	s.send(issuer, f, polyfill.Next, Event{})
	return polyfill.OK
}

// SwitchNew makes a fiber and switches to it from f (B-SNEW-1). The new fiber returns to the control parent that it
// inherits; the issuer is woken only when someone enters it (B-SNEW-2).
func (s *System) SwitchNew(f Fiber, wait Table) Trap {
	s.last = opSwitchNew
	if trap := s.Machine.CheckInChain(f); trap != polyfill.OK {
		return trap
	}
	t, issuer, trap := s.begin(wait)
	if trap != polyfill.OK {
		return trap
	}
	s.Machine.Replace(f, t)
	s.send(issuer, t, polyfill.Next, Event{})
	return polyfill.OK
}

// begin makes a fiber, for which the issuer waits.
func (s *System) begin(wait Table) (f, issuer Fiber, trap Trap) {
	f, trap = s.alloc(s.Events.First(wait), 0)
	if trap == polyfill.OK {
		issuer = s.Machine.Active()
		s.wait(issuer, wait, f)
	}
	return f, issuer, trap
}

// DismountRelease dismounts f and releases it, with all fibers below it (B-DREL-1). If the parent has no handler it
// falls through, and f is not released (B-DREL-2).
func (s *System) DismountRelease(f Fiber, e Event) Trap {
	trap := s.Dismount(f, e, 0)
	s.last = opDismountRelease
	return s.release(f, trap)
}

// SwitchRelease switches from f to t and releases f, with all fibers below it (B-SREL-1, B-SREL-3). If t has no handler
// it falls through, and f is not released. A fiber cannot switch to itself so: it would end before it runs (B-SREL-2).
func (s *System) SwitchRelease(f, t Fiber, e Event) Trap {
	s.last = opSwitchRelease
	if trap := s.Events.Check(e, 0); trap != polyfill.OK {
		return trap
	}
	if f == t && s.Machine.CheckInChain(f) == polyfill.OK {
		return polyfill.NotSuspended
	}
	trap := s.Switch(f, t, e, 0)
	s.last = opSwitchRelease
	return s.release(f, trap)
}

// release ends f if it has been suspended.
func (s *System) release(f Fiber, trap Trap) Trap {
	if trap == polyfill.OK && s.Plan.Delivers != polyfill.Nothing {
		s.Plan.End(&s.Machine, f)
	}
	return trap
}
