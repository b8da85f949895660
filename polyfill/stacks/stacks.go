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

	frames []frame // by Fiber.Index
	entry  Fiber
}

// frame is what is known of a coroutine's stack beside its state.
type frame struct {
	awaits Awaits
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

// Leave ends the embedder's entry: it has returned, thrown, or something has trapped, which ends the active coroutine.
// References to the entry's coroutine are stale from now on, because it could not return to anybody (C-ROOT-2).
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
// called with the values of the first switch and the reference to the sender (C-NEW-2).
func (s *System) New(awaits Awaits) (Token, Trap) {
	f, trap := s.alloc(awaits)
	if trap != polyfill.OK {
		return Token{}, trap
	}
	return s.Machine.Mint(f)
}

// NewRef is New with a function reference as operand; null traps (C-NEWREF-1).
func (s *System) NewRef(function bool, awaits Awaits) (Token, Trap) {
	if !function {
		return Token{}, polyfill.NullReference
	}
	return s.New(awaits)
}

// check returns why the values may not be sent to the suspension that t denotes.
func (s *System) check(t Token, sent Types) Trap {
	if trap := s.Machine.Check(t); trap != polyfill.OK {
		return trap
	}
	if trap := s.checkHost(); trap != polyfill.OK {
		return trap
	}
	if !s.frames[t.Fiber().Index()].awaits.Values.Takes(sent) {
		return polyfill.WrongPayload // C-TYPE-4
	}
	return polyfill.OK
}

// Host says that frames of the host are put on the active coroutine's stack (1) or have gone from it (-1). A coroutine
// with such frames cannot be parked (C-SWITCH-7).
func (s *System) Host(frames int32) {
	s.frames[s.Machine.Active().Index()].host += frames
}

func (s *System) checkHost() Trap {
	if s.frames[s.Machine.Active().Index()].host > 0 {
		return polyfill.HostFrames
	}
	return polyfill.OK
}

// Switch suspends the active coroutine, which awaits then, and activates the one that t denotes; t is consumed
// (C-SWITCH-2 to C-SWITCH-4). back is the fresh reference to the issuer, which the substrate delivers behind the
// values.
func (s *System) Switch(t Token, sent Types, awaits Awaits) (to Fiber, back Token, trap Trap) {
	if trap := s.check(t, sent); trap != polyfill.OK {
		return 0, Token{}, trap
	}
	to, back = s.replace(t, awaits)
	return to, back, polyfill.OK
}

func (s *System) replace(t Token, awaits Awaits) (to Fiber, back Token) {
	m := &s.Machine
	issuer := m.Active()
	to, _ = m.Redeem(t)
	m.Replace(issuer, to)
	s.frames[issuer.Index()].awaits = awaits
	back, _ = m.Mint(issuer)
	return to, back
}

// SwitchRetire activates the coroutine that t denotes, which must admit a null reference, and ends the issuer
// (C-RETIRE-1, C-RETIRE-2). The embedder's entry cannot retire, since nobody could return to the host (C-RETIRE-5).
func (s *System) SwitchRetire(t Token, sent Types) (to Fiber, trap Trap) {
	m := &s.Machine
	if trap := s.check(t, sent); trap != polyfill.OK {
		return 0, trap
	}
	if !s.frames[t.Fiber().Index()].awaits.Nullable {
		return 0, polyfill.WrongPayload
	}
	issuer := m.Active()
	if issuer == s.entry {
		return 0, polyfill.EntryRetired
	}
	to, _ = m.Redeem(t)
	m.Replace(issuer, to)
	m.Kill(issuer)
	return to, polyfill.OK
}

// SwitchThrow is Switch with an exception that is raised in the target instead of values (C-THROW-1). In a coroutine
// that has never run the exception leaves the function at once: call Throw then (C-THROW-2).
func (s *System) SwitchThrow(t Token, awaits Awaits) (to Fiber, back Token, trap Trap) {
	if trap := s.Machine.Check(t); trap != polyfill.OK {
		return 0, Token{}, trap
	}
	if trap := s.checkHost(); trap != polyfill.OK {
		return 0, Token{}, trap
	}
	to, back = s.replace(t, awaits)
	return to, back, polyfill.OK
}

// Bind supplies the first of the values that the suspension awaits and returns the new reference to it; every other one
// is stale (C-BIND-1 to C-BIND-5). Nothing runs. The substrate keeps the values.
func (s *System) Bind(t Token, sent Types) (Token, Trap) {
	if trap := s.Machine.Check(t); trap != polyfill.OK {
		return Token{}, trap
	}
	a := &s.frames[t.Fiber().Index()].awaits
	rest, ok := a.Values.After(sent)
	if !ok {
		return Token{}, polyfill.WrongPayload
	}
	a.Values = rest
	return s.Machine.Mint(t.Fiber())
}

// Return is the end of the active coroutine's function. For the embedder's entry it is the way back to the host, and
// the root is active; for every other one it is a mistake and traps (C-RET-1, C-ROOT-1).
func (s *System) Return() Trap { return s.end(polyfill.FunctionReturned) }

// Throw is Return for a function that an exception has left (C-EXC-1).
func (s *System) Throw() Trap { return s.end(polyfill.FunctionThrew) }

func (s *System) end(mistake Trap) Trap {
	if s.Machine.Active() != s.entry {
		return mistake
	}
	_, trap := s.Machine.Return()
	return trap
}
