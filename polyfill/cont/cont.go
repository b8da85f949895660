package cont

import "github.com/fiberfill/fiberfill/polyfill"

type (
	Fiber = polyfill.Fiber
	Token = polyfill.Token
	Tag   = polyfill.Tag
	Event = polyfill.Event
	Table = polyfill.Table
	Types = polyfill.Types
	Trap  = polyfill.Trap
)

// System is the continuations of one thread of control. The zero System is ready for use, with the root active.
type System struct {
	Machine polyfill.Machine
	Events  polyfill.Events
	// Plan is what follows the last operation, unless that was refused.
	Plan polyfill.Plan

	last    operation
	frames  []frame // by Fiber.Index; the root's is the first
	pending pending
}

// frame is what is known of a continuation beside its state: its type ([tp*] -> [tr*]). tp* changes with what its leaf
// waits for.
type frame struct {
	waits, results Types
	asks           bool // the filter that it waits with is a function as well as a table
}

// pending is the event that is looking for its handler.
type pending struct {
	event  Event
	top    Fiber // the continuation whose resumer is asked
	c      Token // what is forwarded; null: the event is raised by the issuer itself
	filter Table // of the forwarder
	asks   bool
}

// New makes a continuation that waits for params and yields results (D-NEW-1). A null function reference traps. The
// first resume calls the function (D-NEW-2). The issuer goes on; there is no plan.
func (s *System) New(function bool, params, results Types) (Token, Trap) {
	s.last = opNew
	if !params.Valid() || !results.Valid() {
		return Token{}, polyfill.NotTypes
	}
	if !function {
		return Token{}, polyfill.NullReference
	}
	f := s.Machine.New()
	if f == 0 {
		return Token{}, polyfill.TooManyFibers
	}
	for f.Index() >= len(s.frames) {
		s.frames = append(s.frames, frame{})
	}
	s.frames[f.Index()] = frame{waits: params, results: results}
	return s.Machine.Mint(f)
}

// Resume enters the continuation with the values that its leaf waits for (D-RESUME-1, D-RESUME-2) and consumes c. The
// issuer becomes the parent. It admits the events of filter, and their places are its labels. If asks is true, the
// issuer also has a filter function, which is asked about each of those events (D-FILT-3).
func (s *System) Resume(c Token, sent Types, filter Table, asks bool) Trap {
	m := &s.Machine
	s.last = opResume
	if !sent.Valid() {
		return polyfill.NotTypes
	}
	if !s.Events.KnownTable(filter) {
		return polyfill.UnknownTag
	}
	if trap := m.Check(c); trap != polyfill.OK {
		return trap
	}
	if !s.frames[m.Leaf(c.Fiber()).Index()].waits.Takes(sent) {
		s.Events.Mismatch(0, s.frames[m.Leaf(c.Fiber()).Index()].waits, sent)
		return polyfill.WrongPayload // D-SUSPEND-3
	}
	issuer, leaf := s.enter(c, filter, asks)
	s.Plan.Send(issuer, leaf, polyfill.Next, Event{Payload: sent})
	return polyfill.OK
}

// enter consumes c and puts its continuation below the issuer, which waits with the filter.
func (s *System) enter(c Token, filter Table, asks bool) (issuer, leaf Fiber) {
	m := &s.Machine
	issuer = m.Active()
	s.Events.Wait(issuer, filter)
	s.frames[issuer.Index()].asks = asks
	f, _ := m.Redeem(c)
	leaf, _ = m.Enter(f)
	return issuer, leaf
}

// Suspend looks, from the active continuation outward, for the first continuation whose resumer admits the event
// (D-SUSPEND-1). It detaches that continuation with everything inside it. The resumer goes on at the label with a new
// reference to the continuation, which waits for the tag's results (D-SUSPEND-2). If a filter is a function, the plan
// is a [polyfill.Question]: call Answer.
func (s *System) Suspend(e Event) Trap {
	s.last = opSuspend
	if trap := s.Events.Check(e, 0); trap != polyfill.OK {
		return trap
	}
	s.pending = pending{event: e}
	return s.outward(s.Machine.Active())
}

// Forward raises the event e, whose continuation is c, again from the issuer outward (D-FWD-1, D-FWD-2), and consumes
// c. The issuer becomes the parent of c's continuation and waits with the filter, as after Resume, for later events of
// c and for its return. The handler receives a reference to the continuation that holds both. Call Answer as after
// Suspend.
func (s *System) Forward(c Token, e Event, filter Table, asks bool) Trap {
	s.last = opForward
	if trap := s.checkEvent(e); trap != polyfill.OK {
		return trap
	}
	if !s.Events.KnownTable(filter) {
		return polyfill.UnknownTag
	}
	if trap := s.Machine.Check(c); trap != polyfill.OK {
		return trap
	}
	s.pending = pending{event: e, c: c, filter: filter, asks: asks}
	return s.outward(s.Machine.Active())
}

// BrOnEvt reports whether e is an event of the tag (D-BRON-1). It consumes nothing (D-BRON-2). There is no plan.
func (s *System) BrOnEvt(e Event, tag Tag) (bool, Trap) {
	s.last = opBrOnEvt
	return e.Tag == tag, s.checkEvent(e)
}

// checkEvent returns OK if there is such an event, else the reason: a guest may have changed an evtref that it holds.
// The zero Event is null.
func (s *System) checkEvent(e Event) Trap {
	if !e.Payload.Valid() {
		return polyfill.NotTypes
	}
	if e.Tag == 0 {
		return polyfill.NullReference
	}
	return s.Events.Check(e, 0)
}

// Answer goes on with an operation whose plan was a [polyfill.Question]. admits is what the filter has returned.
func (s *System) Answer(admits bool) Trap {
	top := s.pending.top
	if admits {
		return s.detach(top)
	}
	return s.outward(s.Machine.Parent(top))
}

// outward looks for the resumer that takes the pending event, from f outward.
func (s *System) outward(f Fiber) Trap {
	m := &s.Machine
	for ; f != 0; f = m.Parent(f) {
		resumer := m.Parent(f)
		if _, ok := s.Events.Accepts(resumer, s.pending.event.Tag); !ok {
			continue
		}
		if s.frames[resumer.Index()].asks {
			s.pending.top = f
			s.Plan.FallThrough(m.Active())
			s.Plan.To, s.Plan.Delivers = resumer, polyfill.Question
			return polyfill.OK
		}
		return s.detach(f)
	}
	s.Events.Untaken(s.Machine.Active(), s.pending.event.Tag)
	return polyfill.NoContinuation
}

// detach sends the pending event from the continuation top to its resumer.
func (s *System) detach(top Fiber) Trap {
	m, p := &s.Machine, &s.pending
	issuer := m.Active()
	if p.c != (Token{}) {
		s.enter(p.c, p.filter, p.asks)
	} else {
		s.frames[issuer.Index()].waits = s.Events.Results(p.event.Tag)
	}
	label, _ := s.Events.Accepts(m.Parent(top), p.event.Tag)
	resumer, _ := m.Detach(top)
	s.Plan.Send(issuer, resumer, label, p.event)
	s.Plan.Token, _ = m.Mint(top)
	return polyfill.OK
}

// Throw enters the continuation with an exception that is raised where its leaf waits (D-THROW-1). Until the
// continuation ends the issuer admits no event: each goes further outward (D-THROW-3). If the continuation has never
// run, the exception comes straight back to the issuer (D-THROW-4).
func (s *System) Throw(c Token) Trap {
	m := &s.Machine
	s.last = opThrow
	if trap := m.Check(c); trap != polyfill.OK {
		return trap
	}
	started := m.Started(c.Fiber())
	issuer, leaf := s.enter(c, 0, false)
	if !started {
		m.Return()
		s.Plan.Raise(issuer, issuer)
		s.Plan.Ends = append(s.Plan.Ends, leaf)
		return polyfill.OK
	}
	s.Plan.Raise(issuer, leaf)
	return polyfill.OK
}

// Returned ends the active continuation, whose function has returned. Its resumer goes on at its next instruction
// (D-RESUME-3). Results of other types than the continuation's are refused, and then it has not ended.
func (s *System) Returned(results Types) Trap {
	s.last = opReturn
	f := s.Machine.Active()
	if f != 0 && !s.frames[f.Index()].results.Takes(results) {
		if !results.Valid() {
			return polyfill.NotTypes
		}
		s.Events.Mismatch(0, s.frames[f.Index()].results, results)
		return polyfill.WrongResults
	}
	return s.Plan.Returned(&s.Machine, results)
}

// Threw ends the active continuation, which an exception has left; the exception goes on in the resumer (D-RESUME-5).
func (s *System) Threw() Trap {
	s.last = opThrew
	return s.Plan.Threw(&s.Machine)
}
