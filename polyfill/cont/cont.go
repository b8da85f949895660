package cont

import "github.com/fiberfill/fiberfill/polyfill"

type (
	Fiber      = polyfill.Fiber
	Token      = polyfill.Token
	Tag        = polyfill.Tag
	Event      = polyfill.Event
	Table      = polyfill.Table
	Types      = polyfill.Types
	Transition = polyfill.Transition
	Trap       = polyfill.Trap
)

// System is the continuations of one thread of control. The zero System is ready for use, with the root active.
type System struct {
	Machine polyfill.Machine
	Events  polyfill.Events

	types []signature // by Fiber.Index
}

// signature is ([tp*] -> [tr*]) of a continuation, where tp* changes with what its leaf waits for.
type signature struct{ waits, results Types }

// New makes a continuation that waits for params and yields results (D-NEW-1). A null function reference traps. The
// first resume calls the function (D-NEW-2).
func (s *System) New(function bool, params, results Types) (Token, Trap) {
	if !function {
		return Token{}, polyfill.NullReference
	}
	f := s.Machine.New()
	if f == 0 {
		return Token{}, polyfill.TooManyFibers
	}
	for f.Index() >= len(s.types) {
		s.types = append(s.types, signature{})
	}
	s.types[f.Index()] = signature{params, results}
	return s.Machine.Mint(f)
}

// Resume enters the continuation with the values that its leaf waits for (D-RESUME-1, D-RESUME-2). The issuer becomes
// the parent; the events of filter are those that it admits, and their places are its labels. c is consumed.
func (s *System) Resume(c Token, sent Types, filter Table) (Transition, Trap) {
	m := &s.Machine
	if trap := s.checkFilter(filter); trap != polyfill.OK {
		return Transition{}, trap
	}
	if trap := m.Check(c); trap != polyfill.OK {
		return Transition{}, trap
	}
	if !s.types[m.Leaf(c.Fiber()).Index()].waits.Takes(sent) {
		return Transition{}, polyfill.WrongPayload // D-SUSPEND-3
	}
	return s.enter(c, filter), polyfill.OK
}

func (s *System) checkFilter(filter Table) Trap {
	if !s.Events.KnownTable(filter) {
		return polyfill.UnknownTag
	}
	return polyfill.OK
}

// enter consumes c and puts it below the issuer, who waits with the filter.
func (s *System) enter(c Token, filter Table) Transition {
	m := &s.Machine
	s.Events.Wait(m.Active(), filter)
	f, _ := m.Redeem(c)
	leaf, _ := m.Enter(f)
	return Transition{To: leaf, Label: polyfill.Next}
}

// Outer returns the next enclosing continuation, outward from the one given,
// whose resumer's filter has the tag, null if there is none; given null it
// begins at the active one.
// A resumer with a filter that is a function is asked by the substrate, which
// goes on with Outer if it excludes the event (D-FILT-3).
func (s *System) Outer(from Fiber, tag Tag) Fiber {
	m := &s.Machine
	f := m.Active()
	if from != 0 {
		f = m.Parent(from)
	}
	for ; f != 0; f = m.Parent(f) {
		if _, ok := s.Events.Accepts(m.Parent(f), tag); ok {
			return f
		}
	}
	return 0
}

// Suspend detaches the continuation top, which Outer has found, and everything inside it; its resumer goes on at the
// label (D-SUSPEND-2). c is the detached continuation; it waits for the tag's results. A null top traps.
func (s *System) Suspend(top Fiber, e Event) (to Transition, c Token, trap Trap) {
	if trap := s.Events.Check(e, 0); trap != polyfill.OK {
		return Transition{}, Token{}, trap
	}
	if top == 0 {
		return Transition{}, Token{}, polyfill.NoContinuation
	}
	s.types[s.Machine.Active().Index()].waits = s.Events.Results(e.Tag)
	to, c = s.detach(top, e.Tag)
	return to, c, polyfill.OK
}

func (s *System) detach(top Fiber, tag Tag) (Transition, Token) {
	label, _ := s.Events.Accepts(s.Machine.Parent(top), tag)
	parent, _ := s.Machine.Detach(top)
	c, _ := s.Machine.Mint(top)
	return Transition{To: parent, Label: label}, c
}

// Forward re-raises an event of the tag, of which c is the continuation, to the resumer of top, which Outer has found
// (D-FWD-1, D-FWD-2). The issuer stays parent of c and waits with the filter for c's later events and its return. c is
// consumed; outer is the continuation that holds both.
func (s *System) Forward(c Token, top Fiber, tag Tag, filter Table) (to Transition, outer Token, trap Trap) {
	if trap := s.checkFilter(filter); trap != polyfill.OK {
		return Transition{}, Token{}, trap
	}
	if trap := s.Machine.Check(c); trap != polyfill.OK {
		return Transition{}, Token{}, trap
	}
	if top == 0 {
		return Transition{}, Token{}, polyfill.NoContinuation
	}
	s.enter(c, filter)
	to, outer = s.detach(top, tag)
	return to, outer, polyfill.OK
}

// Throw enters the continuation with an exception that is raised where its leaf waits (D-THROW-1). The issuer admits no
// event: each goes on outward until the continuation ends (D-THROW-3). In one that has never run the exception comes
// straight back: call End then (D-THROW-4).
func (s *System) Throw(c Token) (Transition, Trap) {
	if trap := s.Machine.Check(c); trap != polyfill.OK {
		return Transition{}, trap
	}
	return s.enter(c, 0), polyfill.OK
}

// Return ends the active continuation, whose function has returned results, and its resumer goes on at its next
// instruction (D-RESUME-3). Results of other types than its own are refused, and nothing has ended then.
func (s *System) Return(results Types) (Transition, Trap) {
	f := s.Machine.Active()
	if f != 0 && !s.types[f.Index()].results.Takes(results) {
		return Transition{}, polyfill.WrongResults
	}
	return s.End()
}

// End ends the active continuation, which an exception has left; the exception goes on in the resumer (D-RESUME-5).
func (s *System) End() (Transition, Trap) {
	parent, trap := s.Machine.Return()
	return Transition{To: parent, Label: polyfill.Next}, trap
}
