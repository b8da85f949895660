package fibers1

import "github.com/fiberfill/fiberfill/polyfill"

type (
	Fiber = polyfill.Fiber
	Event = polyfill.Event
	Table = polyfill.Table
	Types = polyfill.Types
	Trap  = polyfill.Trap
)

// System is the fibers of one thread of control. The zero System is ready for use, with the root active.
type System struct {
	Machine polyfill.Machine
	Events  polyfill.Events
	// Plan is what follows the last operation, unless that was refused.
	Plan polyfill.Plan

	last    operation
	results []Types // by Fiber.Index: what the fiber's function returns (A-TYPE-1)
}

// New makes a fiber that waits, never started, for one of the events of start, the top-level event blocks of its
// function (A-NEW-1, A-NEW-3). An empty list is allowed: such a fiber traps when it is resumed (A-NEW-4). The issuer
// goes on; there is no plan.
func (s *System) New(results Types, start Table) (Fiber, Trap) {
	s.last = opNew
	return s.alloc(results, start)
}

func (s *System) alloc(results Types, start Table) (Fiber, Trap) {
	if !results.Valid() {
		return 0, polyfill.NotTypes
	}
	if !s.Events.KnownTable(start) {
		return 0, polyfill.UnknownTag
	}
	f := s.Machine.New()
	if f == 0 {
		return 0, polyfill.TooManyFibers
	}
	for f.Index() >= len(s.results) {
		s.results = append(s.results, 0)
	}
	s.results[f.Index()] = results
	s.Events.Wait(f, start)
	return f, polyfill.OK
}

// Block returns OK if an event block with parameters of these types can take the tag, else the reason. The last of the
// parameters must be those of the tag; the ones before are values of the handle (A-HDL-4).
func (s *System) Block(tag polyfill.Tag, params Types) Trap {
	s.last = opBlock
	if !params.Valid() {
		return polyfill.NotTypes
	}
	if !s.Events.Known(tag) {
		return polyfill.UnknownTag
	}
	if !params.EndsWith(s.Events.Params(tag)) {
		s.Events.Mismatch(tag, s.Events.Params(tag), params)
		return polyfill.WrongPayload
	}
	return polyfill.OK
}

// Spawn makes a fiber and enters it at its first instruction (A-SPAWN-1). The spawner waits with the blocks of wait and
// does not learn the reference. The substrate finds it in Plan.To and hands it to the new fiber (A-SPAWN-4).
func (s *System) Spawn(results Types, wait Table) Trap {
	s.last = opSpawn
	if !s.Events.KnownTable(wait) {
		return polyfill.UnknownTag
	}
	f, trap := s.alloc(results, 0)
	if trap != polyfill.OK {
		return trap
	}
	issuer := s.Machine.Active()
	s.Events.Wait(issuer, wait)
	s.Machine.Enter(f)
	s.Plan.Send(issuer, f, polyfill.Next, Event{})
	return polyfill.OK
}

// Suspend takes f out of the live chain, with all fibers below it, and sends the event to f's resume parent
// (A-SUSPEND-1 to A-SUSPEND-3). The issuer waits with the blocks of wait until f is resumed.
func (s *System) Suspend(f Fiber, e Event, wait Table) Trap {
	m := &s.Machine
	s.last = opSuspend
	if trap := s.Events.Check(e, wait); trap != polyfill.OK {
		return trap
	}
	if trap := m.CheckInChain(f); trap != polyfill.OK {
		return trap
	}
	label, ok := s.Events.Accepts(m.Parent(f), e.Tag)
	if !ok {
		return polyfill.Unhandled
	}
	issuer := m.Active()
	s.Events.Wait(issuer, wait)
	parent, _ := m.Detach(f)
	s.Plan.Send(issuer, parent, label, e)
	return polyfill.OK
}

// Resume makes the issuer the resume parent of f, which is suspended, and sends the event to f's leaf (A-RESUME-1 to
// A-RESUME-3). The issuer waits with the blocks of wait, or for f's return, which arrives at [polyfill.Next].
func (s *System) Resume(f Fiber, e Event, wait Table) Trap {
	m := &s.Machine
	s.last = opResume
	if trap := s.Events.Check(e, wait); trap != polyfill.OK {
		return trap
	}
	if trap := m.CheckSuspended(f); trap != polyfill.OK {
		return trap
	}
	label, ok := s.Events.Accepts(m.Leaf(f), e.Tag)
	if !ok {
		return polyfill.Unhandled
	}
	issuer := m.Active()
	s.Events.Wait(issuer, wait)
	leaf, _ := m.Enter(f)
	s.Plan.Send(issuer, leaf, label, e)
	return polyfill.OK
}

// Switch suspends f and lets t, which must be suspended, take f's place below f's resume parent. The parent is neither
// woken nor told (A-SWITCH-1 to A-SWITCH-4). If f and t are the same fiber, the issuer's own blocks take the event
// (A-SWITCH-6).
func (s *System) Switch(f, t Fiber, e Event, wait Table) Trap {
	m := &s.Machine
	s.last = opSwitch
	if trap := s.Events.Check(e, wait); trap != polyfill.OK {
		return trap
	}
	issuer := m.Active()
	if f == t && m.CheckInChain(f) == polyfill.OK {
		label, ok := s.Events.Find(wait, e.Tag)
		if !ok {
			s.Events.Untaken(issuer, e.Tag)
			return polyfill.Unhandled
		}
		s.Plan.Send(issuer, issuer, label, e)
		return polyfill.OK
	}
	label, trap := s.checkReplace(f, t, e)
	if trap != polyfill.OK {
		return trap
	}
	s.Events.Wait(issuer, wait)
	leaf, _ := m.Replace(f, t)
	s.Plan.Send(issuer, leaf, label, e)
	return polyfill.OK
}

// checkReplace returns the label at which t would take the event in f's place, or the reason why t may not take f's
// place.
func (s *System) checkReplace(f, t Fiber, e Event) (label int32, trap Trap) {
	m := &s.Machine
	if trap := m.CheckReference(f); trap != polyfill.OK {
		return 0, trap
	}
	if trap := m.CheckReference(t); trap != polyfill.OK {
		return 0, trap
	}
	if trap := m.CheckInChain(f); trap != polyfill.OK {
		return 0, trap
	}
	if trap := m.CheckSuspended(t); trap != polyfill.OK {
		return 0, trap
	}
	// The parent that t inherits waits for the results of f (A-SWITCH-5).
	if s.results[f.Index()] != s.results[t.Index()] {
		s.Events.Mismatch(0, s.results[f.Index()], s.results[t.Index()])
		return 0, polyfill.WrongResults
	}
	label, ok := s.Events.Accepts(m.Leaf(t), e.Tag)
	if !ok {
		return 0, polyfill.Unhandled
	}
	return label, polyfill.OK
}

// Retire ends f and all fibers below it and sends the event to f's resume parent (A-RETIRE-1, A-RETIRE-2). The issuer
// is among those that end.
func (s *System) Retire(f Fiber, e Event) Trap {
	trap := s.Suspend(f, e, 0)
	s.last = opRetire
	if trap == polyfill.OK {
		s.Plan.End(&s.Machine, f)
	}
	return trap
}

// RetireTo ends f and all fibers below it. t, which must be suspended, takes f's place (A-RETIRETO-1, A-RETIRETO-2).
func (s *System) RetireTo(f, t Fiber, e Event) Trap {
	m := &s.Machine
	s.last = opRetireTo
	if trap := s.Events.Check(e, 0); trap != polyfill.OK {
		return trap
	}
	label, trap := s.checkReplace(f, t, e)
	if trap != polyfill.OK {
		return trap
	}
	issuer := m.Active()
	leaf, _ := m.Replace(f, t)
	s.Plan.Send(issuer, leaf, label, e)
	return s.Plan.End(m, f)
}

// Release ends f, which must be suspended, and all that it carries; none of their code runs (A-RELEASE-1 to
// A-RELEASE-3). A second release traps.
func (s *System) Release(f Fiber) Trap {
	s.last = opRelease
	return s.Plan.Release(&s.Machine, f)
}

// Returned ends the active fiber, whose function has returned. Its resume parent goes on after its resume or spawn
// (A-RET-1). Results of other types than the fiber's are refused, and then the fiber has not ended.
func (s *System) Returned(results Types) Trap {
	s.last = opReturn
	f := s.Machine.Active()
	if f != 0 && !s.results[f.Index()].Takes(results) {
		if !results.Valid() {
			return polyfill.NotTypes
		}
		s.Events.Mismatch(0, s.results[f.Index()], results)
		return polyfill.WrongResults
	}
	return s.Plan.Returned(&s.Machine, results)
}

// Threw ends the active fiber, which an exception has left; the exception goes on in the resume parent, at its resume
// or spawn (A-EXC-1).
func (s *System) Threw() Trap {
	s.last = opThrow
	return s.Plan.Threw(&s.Machine)
}
