package fibers2

import "github.com/fiberfill/fiberfill/polyfill"

type (
	Fiber      = polyfill.Fiber
	Event      = polyfill.Event
	Tag        = polyfill.Tag
	Table      = polyfill.Table
	Types      = polyfill.Types
	Transition = polyfill.Transition
	Trap       = polyfill.Trap
)

// System is the fibers of one thread of control. The zero System is ready for use, with the root active.
type System struct {
	Machine polyfill.Machine
	Events  polyfill.Events

	returns []Tag // by Fiber.Index: $return_event (B-NEW-1)
}

// New makes a fiber that waits, never started and without control parent, for one of the events of start, each of which
// has its function (B-NEW-1, B-NEW-2). returns is the event as which the function's results will arrive.
func (s *System) New(returns Tag, start Table) (Fiber, Trap) {
	if !s.Events.Known(returns) {
		return 0, polyfill.UnknownTag
	}
	f := s.Machine.New()
	if f == 0 {
		return 0, polyfill.TooManyFibers
	}
	for f.Index() >= len(s.returns) {
		s.returns = append(s.returns, 0)
	}
	s.returns[f.Index()] = returns
	s.Events.Wait(f, start)
	return f, polyfill.OK
}

// Mount makes the issuer the control parent of f, which must be suspended, and sends the event to f's leaf (B-MOUNT-1,
// B-MOUNT-2). If f has no handler the issuer goes on at [polyfill.Next] and nothing has changed (B-MOUNT-3).
func (s *System) Mount(f Fiber, e Event, wait Table) (Transition, Trap) {
	m := &s.Machine
	if trap := s.Events.Check(e, wait); trap != polyfill.OK {
		return Transition{}, trap
	}
	if trap := m.CheckSuspended(f); trap != polyfill.OK {
		return Transition{}, trap
	}
	label, ok := s.Events.Accepts(m.Leaf(f), e.Tag)
	if !ok {
		return s.fallThrough()
	}
	s.Events.Wait(m.Active(), wait)
	leaf, _ := m.Enter(f)
	return Transition{To: leaf, Label: label}, polyfill.OK
}

// fallThrough is what happens when the receiver has no handler: the issuer goes on with its next instruction, and
// nothing has changed (B-EVT-2).
func (s *System) fallThrough() (Transition, Trap) {
	return Transition{To: s.Machine.Active(), Label: polyfill.Next}, polyfill.OK
}

// Switch suspends f, which is active or a control ancestor, and lets t take over its control parent (B-SWITCH-1 to
// B-SWITCH-4). If both are the same fiber the event is looked up in the issuer's own table (B-SWITCH-6).
func (s *System) Switch(f, t Fiber, e Event, wait Table) (Transition, Trap) {
	m := &s.Machine
	if trap := s.Events.Check(e, wait); trap != polyfill.OK {
		return Transition{}, trap
	}
	if f == t && m.CheckInChain(f) == polyfill.OK {
		label, _ := s.Events.Find(wait, e.Tag)
		return Transition{To: m.Active(), Label: label}, polyfill.OK
	}
	if trap := s.checkReplace(f, t); trap != polyfill.OK {
		return Transition{}, trap
	}
	label, ok := s.Events.Accepts(m.Leaf(t), e.Tag)
	if !ok {
		return s.fallThrough() // B-SWITCH-5
	}
	s.Events.Wait(m.Active(), wait)
	leaf, _ := m.Replace(f, t)
	return Transition{To: leaf, Label: label}, polyfill.OK
}

func (s *System) checkReplace(f, t Fiber) Trap {
	m := &s.Machine
	if trap := m.CheckReference(f); trap != polyfill.OK {
		return trap
	}
	if trap := m.CheckReference(t); trap != polyfill.OK {
		return trap
	}
	if trap := m.CheckInChain(f); trap != polyfill.OK {
		return trap
	}
	return m.CheckSuspended(t)
}

// Dismount clears f's control parent and sends the event to it (B-DISMOUNT-1, B-DISMOUNT-2). If the parent has no
// handler the issuer goes on and f keeps its parent (B-DISMOUNT-3).
func (s *System) Dismount(f Fiber, e Event, wait Table) (Transition, Trap) {
	m := &s.Machine
	if trap := s.Events.Check(e, wait); trap != polyfill.OK {
		return Transition{}, trap
	}
	if trap := m.CheckInChain(f); trap != polyfill.OK {
		return Transition{}, trap
	}
	label, ok := s.Events.Accepts(m.Parent(f), e.Tag)
	if !ok {
		return s.fallThrough()
	}
	s.Events.Wait(m.Active(), wait)
	parent, _ := m.Detach(f)
	return Transition{To: parent, Label: label}, polyfill.OK
}

// Release ends f, which must have no control parent, and its control descendants; none of their code runs (B-RELEASE-1
// to B-RELEASE-4). Releasing a fiber that is over does nothing.
func (s *System) Release(f Fiber) Trap {
	if s.Machine.State(f) == polyfill.Moribund {
		return polyfill.OK
	}
	return s.Machine.Kill(f)
}

// Return ends the active fiber, whose function has returned. The control parent of this moment is sent the fiber's
// return event (B-NEW-5). If it has no handler, falling through is impossible, because the sender is gone: the fiber
// has ended, the parent is active, and it traps (B-NEW-6). Results of other types than the return event's are refused,
// and nothing has ended then.
func (s *System) Return(results Types) (Transition, Trap) {
	f := s.Machine.Active()
	if f == 0 {
		return Transition{}, polyfill.OnRoot
	}
	e := Event{Tag: s.returns[f.Index()], Payload: results}
	if trap := s.Events.Check(e, 0); trap != polyfill.OK {
		return Transition{}, trap
	}
	parent, _ := s.Machine.Return()
	label, ok := s.Events.Accepts(parent, e.Tag)
	if !ok {
		return Transition{}, polyfill.Unhandled
	}
	return Transition{To: parent, Label: label}, polyfill.OK
}

// ReturnEvent returns the tag as which the results of f, which is not over, will arrive.
func (s *System) ReturnEvent(f Fiber) Tag { return s.returns[f.Index()] }

// Throw ends the active fiber, which an exception has left; the exception goes on in the control parent, where it waits
// (B-NEW-7, B-EXC-1).
func (s *System) Throw() (Transition, Trap) {
	parent, trap := s.Machine.Return()
	return Transition{To: parent, Label: polyfill.Next}, trap
}
