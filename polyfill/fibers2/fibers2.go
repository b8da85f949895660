package fibers2

import "github.com/fiberfill/fiberfill/polyfill"

type (
	Fiber = polyfill.Fiber
	Event = polyfill.Event
	Tag   = polyfill.Tag
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

	last   operation
	frames []frame // by Fiber.Index; the root's is the first
}

// frame is what is known of a fiber beside its state.
type frame struct {
	returns Tag   // $return_event (B-NEW-1)
	made    Fiber // by the operation that it waits in, if that is MountNew or SwitchNew
}

// New makes a fiber that has never started and has no control parent. It waits for one of the events of start, each of
// which has a function of its own (B-NEW-1, B-NEW-2). The function's results will arrive as the event returns. The
// issuer goes on; there is no plan.
func (s *System) New(returns Tag, start Table) (Fiber, Trap) {
	s.last = opNew
	return s.alloc(returns, start)
}

func (s *System) alloc(returns Tag, start Table) (Fiber, Trap) {
	if !s.Events.Known(returns) || !s.Events.KnownTable(start) {
		return 0, polyfill.UnknownTag
	}
	f := s.Machine.New()
	if f == 0 {
		return 0, polyfill.TooManyFibers
	}
	for f.Index() >= len(s.frames) {
		s.frames = append(s.frames, frame{})
	}
	s.frames[f.Index()] = frame{returns: returns}
	s.Events.Wait(f, start)
	return f, polyfill.OK
}

// wait records the table that f waits with, and the fiber that f's operation has made, null if none.
func (s *System) wait(f Fiber, t Table, made Fiber) {
	s.Events.Wait(f, t)
	s.frames[f.Index()].made = made
}

// send plans that the event arrives in the waiting fiber to.
func (s *System) send(from, to Fiber, label int32, e Event) {
	made := s.frames[to.Index()].made
	if made != 0 && label == 0 {
		label, e.Tag = polyfill.Next, 0 // $return_event is no handler of the instruction (B-MNEW-2)
	}
	s.Plan.Send(from, to, label, e)
	s.Plan.Made = made
}

// Mount makes the issuer the control parent of f, which must be suspended, and sends the event to f's leaf (B-MOUNT-1,
// B-MOUNT-2). If f has no handler the issuer goes on at [polyfill.Next] and nothing has changed (B-MOUNT-3).
func (s *System) Mount(f Fiber, e Event, wait Table) Trap {
	m := &s.Machine
	s.last = opMount
	if trap := s.Events.Check(e, wait); trap != polyfill.OK {
		return trap
	}
	if trap := m.CheckSuspended(f); trap != polyfill.OK {
		return trap
	}
	issuer := m.Active()
	label, ok := s.Events.Accepts(m.Leaf(f), e.Tag)
	if !ok {
		s.Plan.FallThrough(issuer)
		return polyfill.OK
	}
	s.wait(issuer, wait, 0)
	leaf, _ := m.Enter(f)
	s.send(issuer, leaf, label, e)
	return polyfill.OK
}

// Switch suspends f, which is active or a control ancestor, and lets t take over its control parent (B-SWITCH-1 to
// B-SWITCH-4). If t has no handler it falls through (B-SWITCH-5). If both are the same fiber the event is looked up in
// the issuer's own table (B-SWITCH-6).
func (s *System) Switch(f, t Fiber, e Event, wait Table) Trap {
	m := &s.Machine
	s.last = opSwitch
	if trap := s.Events.Check(e, wait); trap != polyfill.OK {
		return trap
	}
	issuer := m.Active()
	if f == t && m.CheckInChain(f) == polyfill.OK {
		if label, ok := s.Events.Find(wait, e.Tag); ok {
			s.Plan.Send(issuer, issuer, label, e)
		} else {
			s.Plan.FallThrough(issuer)
		}
		return polyfill.OK
	}
	if trap := s.checkReplace(f, t); trap != polyfill.OK {
		return trap
	}
	label, ok := s.Events.Accepts(m.Leaf(t), e.Tag)
	if !ok {
		s.Plan.FallThrough(issuer)
		return polyfill.OK
	}
	s.wait(issuer, wait, 0)
	leaf, _ := m.Replace(f, t)
	s.send(issuer, leaf, label, e)
	return polyfill.OK
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
func (s *System) Dismount(f Fiber, e Event, wait Table) Trap {
	m := &s.Machine
	s.last = opDismount
	if trap := s.Events.Check(e, wait); trap != polyfill.OK {
		return trap
	}
	if trap := m.CheckInChain(f); trap != polyfill.OK {
		return trap
	}
	issuer := m.Active()
	label, ok := s.Events.Accepts(m.Parent(f), e.Tag)
	if !ok {
		s.Plan.FallThrough(issuer)
		return polyfill.OK
	}
	s.wait(issuer, wait, 0)
	parent, _ := m.Detach(f)
	s.send(issuer, parent, label, e)
	return polyfill.OK
}

// Release ends f, which must have no control parent, and its control descendants; none of their code runs (B-RELEASE-1
// to B-RELEASE-4). Releasing a fiber that is over does nothing.
func (s *System) Release(f Fiber) Trap {
	s.last = opRelease
	if s.Machine.State(f) == polyfill.Moribund {
		s.Plan.FallThrough(s.Machine.Active())
		return polyfill.OK
	}
	return s.Plan.Release(&s.Machine, f)
}

// Returned ends the active fiber, whose function has returned, and sends the return event to the fiber's current
// control parent (B-NEW-5). If the parent has no handler, the sender is gone and cannot fall through: the fiber has
// ended, the parent is active, and the parent traps (B-NEW-6). Results of other types than the return event's are
// refused, and then the fiber has not ended.
func (s *System) Returned(results Types) Trap {
	s.last = opReturn
	f := s.Machine.Active()
	if f == 0 {
		return polyfill.OnRoot
	}
	e := Event{Tag: s.frames[f.Index()].returns, Payload: results}
	if trap := s.Events.Check(e, 0); trap != polyfill.OK {
		return trap
	}
	parent, _ := s.Machine.Return()
	label, ok := s.Events.Accepts(parent, e.Tag)
	if !ok {
		return polyfill.Unhandled
	}
	s.send(f, parent, label, e)
	return polyfill.OK
}

// Threw ends the active fiber, which an exception has left; the exception goes on in the control parent, where it waits
// (B-NEW-7, B-EXC-1).
func (s *System) Threw() Trap {
	s.last = opThrow
	return s.Plan.Threw(&s.Machine)
}
