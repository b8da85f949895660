package stacks

import "github.com/fiberfill/fiberfill/polyfill"

type (
	Fiber = polyfill.Fiber
	Token = polyfill.Token
	Types = polyfill.Types
	Trap  = polyfill.Trap
)

// Awaits is the type of a suspension, (stack t* rt): the values that it expects, and whether the reference back to the
// sender may be null (C-TYPE-1).
type Awaits struct {
	Values   Types
	Nullable bool
}

// System is the coroutines of one thread of control. The zero System is ready for use, with the root active; Enter
// begins an entry from the embedder.
type System struct {
	Machine polyfill.Machine
	// Plan is what follows the last operation, unless that was refused.
	Plan polyfill.Plan

	last   operation
	frames []frame // by Fiber.Index
	entry  Fiber

	expected, actual Types // of values that were refused
}

// frame is what is known of a coroutine's stack beside its state.
type frame struct {
	awaits Awaits
	bound  Types // of the values that have been supplied already (C-BIND-1)
	host   int32 // frames of the host that lie on it
}

// Enter makes the embedder's entry a coroutine and lets it run (C-ROOT-1). The caller leaves by Leave. Entries do not
// nest: [polyfill.HostFrames].
func (s *System) Enter() (Fiber, Trap) {
	if s.Machine.Active() != 0 {
		return 0, polyfill.HostFrames
	}
	f, trap := s.alloc(Awaits{})
	if trap == polyfill.OK {
		s.Machine.Enter(f)
		s.entry = f
	}
	return f, trap
}

// Leave ends the embedder's entry, which has returned, thrown or trapped; a trap ends the active coroutine. References
// to the entry's coroutine are stale from now on, because it has nowhere to return to (C-ROOT-2).
func (s *System) Leave() {
	s.Machine.Unwind()
	if s.Machine.State(s.entry) == polyfill.Suspended {
		s.Machine.Kill(s.entry)
	}
	s.entry = 0
}

func (s *System) alloc(awaits Awaits) (Fiber, Trap) {
	f := s.Machine.New()
	if f == 0 {
		return 0, polyfill.TooManyFibers
	}
	for f.Index() >= len(s.frames) {
		s.frames = append(s.frames, frame{})
	}
	s.frames[f.Index()] = frame{awaits: awaits}
	return f, polyfill.OK
}

// New makes a coroutine, suspended and never started, and returns the first reference to it (C-NEW-1). Its function is
// called with the values of the first switch and the reference to the sender (C-NEW-2). The issuer goes on; there is no
// plan.
func (s *System) New(awaits Awaits) (Token, Trap) {
	s.last = opNew
	return s.mint(awaits)
}

// NewRef is New with a function reference as operand; null traps (C-NEWREF-1).
func (s *System) NewRef(function bool, awaits Awaits) (Token, Trap) {
	s.last = opNewRef
	if !function {
		return Token{}, polyfill.NullReference
	}
	return s.mint(awaits)
}

func (s *System) mint(awaits Awaits) (Token, Trap) {
	if !awaits.Values.Valid() {
		return Token{}, polyfill.NotTypes
	}
	f, trap := s.alloc(awaits)
	if trap != polyfill.OK {
		return Token{}, trap
	}
	return s.Machine.Mint(f)
}

// Host records that a frame of the host has been put on the active coroutine's stack (1) or has left it (-1). A
// coroutine with such frames cannot be parked (C-SWITCH-7).
func (s *System) Host(frames int32) {
	s.frames[s.Machine.Active().Index()].host += frames
}

// check returns OK if the active coroutine can switch to the suspension that t denotes and wait for awaits, else the
// reason.
func (s *System) check(t Token, awaits Awaits) Trap {
	if !awaits.Values.Valid() {
		return polyfill.NotTypes
	}
	if trap := s.Machine.Check(t); trap != polyfill.OK {
		return trap
	}
	if s.frames[s.Machine.Active().Index()].host > 0 {
		return polyfill.HostFrames
	}
	return polyfill.OK
}

// checkValues is check, and also checks that values of the types sent may go to that suspension.
func (s *System) checkValues(t Token, sent Types, awaits Awaits) Trap {
	if !sent.Valid() {
		return polyfill.NotTypes
	}
	if trap := s.check(t, awaits); trap != polyfill.OK {
		return trap
	}
	if !s.frames[t.Fiber().Index()].awaits.Values.Takes(sent) {
		s.expected, s.actual = s.frames[t.Fiber().Index()].awaits.Values, sent
		return polyfill.WrongPayload // C-TYPE-4
	}
	return polyfill.OK
}

// Switch suspends the active coroutine, which then waits for awaits, and activates the one that t denotes. It consumes
// t (C-SWITCH-2 to C-SWITCH-4). The target receives the bound values, then the values sent (C-BIND-4), and a fresh
// reference to the issuer.
func (s *System) Switch(t Token, sent Types, awaits Awaits) Trap {
	s.last = opSwitch
	trap := s.checkValues(t, sent, awaits)
	if trap == polyfill.OK {
		s.send(t, sent, awaits)
	}
	return trap
}

// ReturnSwitch is Switch in place of the frame that issues it (C-RSW-1). For the machine they differ in name only.
func (s *System) ReturnSwitch(t Token, sent Types, awaits Awaits) Trap {
	trap := s.Switch(t, sent, awaits)
	s.last = opReturnSwitch
	return trap
}

func (s *System) send(t Token, sent Types, awaits Awaits) {
	issuer, to, back := s.replace(t, awaits)
	f := &s.frames[to.Index()]
	s.Plan.Send(issuer, to, polyfill.Next, polyfill.Event{Payload: f.bound.Then(sent)})
	s.Plan.Token = back
	f.bound = 0
}

func (s *System) replace(t Token, awaits Awaits) (issuer, to Fiber, back Token) {
	m := &s.Machine
	issuer = m.Active()
	to, _ = m.Redeem(t)
	m.Replace(issuer, to)
	s.frames[issuer.Index()].awaits = awaits
	back, _ = m.Mint(issuer)
	return issuer, to, back
}

// SwitchRetire activates the coroutine that t denotes, which must admit a null reference, and ends the issuer
// (C-RETIRE-1, C-RETIRE-2). The embedder's entry cannot retire, since nobody could return to the host (C-RETIRE-5).
func (s *System) SwitchRetire(t Token, sent Types) Trap {
	s.last = opSwitchRetire
	if trap := s.checkValues(t, sent, Awaits{}); trap != polyfill.OK {
		return trap
	}
	if !s.frames[t.Fiber().Index()].awaits.Nullable {
		s.expected, s.actual = sent, sent
		return polyfill.WrongPayload
	}
	issuer := s.Machine.Active()
	if issuer == s.entry {
		return polyfill.EntryRetired
	}
	s.send(t, sent, Awaits{})
	s.Plan.Token = Token{}
	return s.Plan.End(&s.Machine, issuer)
}

// SwitchThrow is Switch with an exception instead of values. The exception is raised in the target and brings the
// reference to the issuer (C-THROW-1, C-THROW-3). Bound values are lost. If the target has never run, the exception
// leaves it at once, which traps (C-THROW-2): the target is then active, and the issuer stays suspended.
func (s *System) SwitchThrow(t Token, awaits Awaits) Trap {
	s.last = opSwitchThrow
	if trap := s.check(t, awaits); trap != polyfill.OK {
		return trap
	}
	started := s.Machine.Started(t.Fiber())
	issuer, to, back := s.replace(t, awaits)
	if !started {
		return polyfill.FunctionThrew
	}
	s.frames[to.Index()].bound = 0
	s.Plan.Raise(issuer, to)
	s.Plan.Token = back
	return polyfill.OK
}

// ReturnSwitchThrow is SwitchThrow in place of the frame that issues it (C-RSW-2).
func (s *System) ReturnSwitchThrow(t Token, awaits Awaits) Trap {
	trap := s.SwitchThrow(t, awaits)
	s.last = opReturnSwitchThrow
	return trap
}

// Bind supplies the first of the values that the suspension awaits and returns the new reference to it. Every earlier
// reference is stale (C-BIND-1 to C-BIND-5). The substrate keeps the values. The issuer goes on; there is no plan.
func (s *System) Bind(t Token, sent Types) (Token, Trap) {
	s.last = opBind
	if !sent.Valid() {
		return Token{}, polyfill.NotTypes
	}
	if trap := s.Machine.Check(t); trap != polyfill.OK {
		return Token{}, trap
	}
	f := &s.frames[t.Fiber().Index()]
	rest, ok := f.awaits.Values.After(sent)
	if !ok {
		s.expected, s.actual = f.awaits.Values, sent
		return Token{}, polyfill.WrongPayload
	}
	f.awaits.Values, f.bound = rest, f.bound.Then(sent)
	return s.Machine.Mint(t.Fiber())
}

// Returned is the end of the active coroutine's function, which is a mistake (C-RET-1). The embedder's entry ends by
// Leave (C-ROOT-1).
func (s *System) Returned(Types) Trap {
	s.last = opReturn
	return polyfill.FunctionReturned
}

// Threw is Returned for a function that has let out an exception (C-EXC-1).
func (s *System) Threw() Trap {
	s.last = opThrow
	return polyfill.FunctionThrew
}
