package fibers1

import "github.com/fiberfill/fiberfill/polyfill"

type (
	Fiber      = polyfill.Fiber
	Event      = polyfill.Event
	Table      = polyfill.Table
	Types      = polyfill.Types
	Transition = polyfill.Transition
	Trap       = polyfill.Trap
)

// System is the fibers of one thread of control. The zero System is ready for use, with the root active.
type System struct {
	Machine polyfill.Machine
	Events  polyfill.Events

	results []Types // by Fiber.Index: what the fiber's function returns (A-TYPE-1)
}

// New makes a fiber that waits, never started, for one of the events of start, the top-level event blocks of its
// function (A-NEW-1, A-NEW-3). An empty list is allowed: such a fiber traps when it is resumed (A-NEW-4).
func (s *System) New(results Types, start Table) (Fiber, Trap) {
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

// Block returns why an event block with parameters of these types cannot take the tag: the tag's must be the last of
// them. Those before them are values of the handle (A-HDL-4).
func (s *System) Block(tag polyfill.Tag, params Types) Trap {
	if !s.Events.Known(tag) {
		return polyfill.UnknownTag
	}
	if !params.EndsWith(s.Events.Params(tag)) {
		return polyfill.WrongPayload
	}
	return polyfill.OK
}

// Spawn makes a fiber and enters it at its first instruction (A-SPAWN-1). The spawner waits with the blocks of wait. It
// is not told the reference; only the substrate is, which hands it to the new fiber (A-SPAWN-4).
func (s *System) Spawn(results Types, wait Table) (Transition, Trap) {
	f, trap := s.New(results, 0)
	if trap != polyfill.OK {
		return Transition{}, trap
	}
	s.Events.Wait(s.Machine.Active(), wait)
	s.Machine.Enter(f)
	return Transition{To: f, Label: polyfill.Next}, polyfill.OK
}

// Suspend takes f out of the live chain, with all fibers below it, and sends the event to f's resume parent
// (A-SUSPEND-1 to A-SUSPEND-3). The issuer waits with the blocks of wait for whoever resumes f.
func (s *System) Suspend(f Fiber, e Event, wait Table) (Transition, Trap) {
	m := &s.Machine
	if trap := s.Events.Check(e, wait); trap != polyfill.OK {
		return Transition{}, trap
	}
	if trap := m.CheckInChain(f); trap != polyfill.OK {
		return Transition{}, trap
	}
	label, ok := s.Events.Accepts(m.Parent(f), e.Tag)
	if !ok {
		return Transition{}, polyfill.Unhandled
	}
	s.Events.Wait(m.Active(), wait)
	parent, _ := m.Detach(f)
	return Transition{To: parent, Label: label}, polyfill.OK
}

// Resume makes the issuer the resume parent of f, which is suspended, and sends the event to f's leaf (A-RESUME-1 to
// A-RESUME-3). The issuer waits with the blocks of wait, or for f's return, which arrives at [polyfill.Next].
func (s *System) Resume(f Fiber, e Event, wait Table) (Transition, Trap) {
	m := &s.Machine
	if trap := s.Events.Check(e, wait); trap != polyfill.OK {
		return Transition{}, trap
	}
	if trap := m.CheckSuspended(f); trap != polyfill.OK {
		return Transition{}, trap
	}
	label, ok := s.Events.Accepts(m.Leaf(f), e.Tag)
	if !ok {
		return Transition{}, polyfill.Unhandled
	}
	s.Events.Wait(m.Active(), wait)
	leaf, _ := m.Enter(f)
	return Transition{To: leaf, Label: label}, polyfill.OK
}

// Switch suspends f and lets t, which is suspended, take f's place below f's resume parent, who is neither woken nor
// told (A-SWITCH-1 to A-SWITCH-4). If both are the same fiber the event is looked up in the issuer's own blocks
// (A-SWITCH-6).
func (s *System) Switch(f, t Fiber, e Event, wait Table) (Transition, Trap) {
	m := &s.Machine
	if trap := s.Events.Check(e, wait); trap != polyfill.OK {
		return Transition{}, trap
	}
	if f == t && m.CheckInChain(f) == polyfill.OK {
		label, ok := s.Events.Find(wait, e.Tag)
		if !ok {
			return Transition{}, polyfill.Unhandled
		}
		return Transition{To: m.Active(), Label: label}, polyfill.OK
	}
	label, trap := s.checkReplace(f, t, e)
	if trap != polyfill.OK {
		return Transition{}, trap
	}
	s.Events.Wait(m.Active(), wait)
	leaf, _ := m.Replace(f, t)
	return Transition{To: leaf, Label: label}, polyfill.OK
}

// checkReplace returns the label at which t would take the event if it took f's place, or why it may not.
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
func (s *System) Retire(f Fiber, e Event) (Transition, Trap) {
	to, trap := s.Suspend(f, e, 0)
	if trap == polyfill.OK {
		s.Machine.Kill(f)
	}
	return to, trap
}

// RetireTo ends f and all fibers below it, and t, which is suspended, takes f's place (A-RETIRETO-1, A-RETIRETO-2).
func (s *System) RetireTo(f, t Fiber, e Event) (Transition, Trap) {
	if trap := s.Events.Check(e, 0); trap != polyfill.OK {
		return Transition{}, trap
	}
	label, trap := s.checkReplace(f, t, e)
	if trap != polyfill.OK {
		return Transition{}, trap
	}
	leaf, _ := s.Machine.Replace(f, t)
	s.Machine.Kill(f)
	return Transition{To: leaf, Label: label}, polyfill.OK
}

// Release ends f, which must be suspended, and all that it carries; none of their code runs (A-RELEASE-1 to
// A-RELEASE-3). A second release traps.
func (s *System) Release(f Fiber) Trap { return s.Machine.Kill(f) }

// Return ends the active fiber, whose function has returned; its resume parent goes on behind its resume or spawn
// (A-RET-1). Results of other types than the fiber's are refused, and nothing has ended then.
func (s *System) Return(results Types) (Transition, Trap) {
	f := s.Machine.Active()
	if f != 0 && !s.results[f.Index()].Takes(results) {
		return Transition{}, polyfill.WrongResults
	}
	return s.Throw()
}

// Throw ends the active fiber, which an exception has left; the exception goes on in the resume parent, at its resume
// or spawn (A-EXC-1).
func (s *System) Throw() (Transition, Trap) {
	parent, trap := s.Machine.Return()
	return Transition{To: parent, Label: polyfill.Next}, trap
}
