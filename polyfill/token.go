package polyfill

// Token is a single-use reference: it denotes one suspension of one fiber and is consumed by entering it (C-REF-1,
// D-ONE-1). The zero Token is null. A token that is consumed or outdated stays a legal value, and operations refuse it.
type Token struct {
	fiber  Fiber
	number uint32
}

// Mint returns a token for the suspended fiber f and makes every earlier token of f stale (P8, C-BIND-2).
func (m *Machine) Mint(f Fiber) (Token, Trap) {
	if trap := m.CheckSuspended(f); trap != OK {
		return Token{}, trap
	}
	s := &m.slots[f.Index()]
	s.token++
	return Token{f, s.token}, OK
}

// Check returns OK if Redeem would accept t, else the reason. It consumes nothing, because an operation that traps for
// another reason must not consume its reference (C-SWITCH-4).
func (m *Machine) Check(t Token) Trap {
	m.looked = t.fiber
	if t.fiber == 0 {
		return NullReference
	}
	if m.State(t.fiber) != Suspended || m.slots[t.fiber.Index()].token != t.number {
		return StaleToken
	}
	return OK
}

// Redeem consumes t and returns the fiber that it denotes.
func (m *Machine) Redeem(t Token) (Fiber, Trap) {
	if trap := m.Check(t); trap != OK {
		return 0, trap
	}
	m.slots[t.fiber.Index()].token++
	return t.fiber, OK
}

// Fiber returns the fiber whose suspension t denotes or denoted. That fiber may be over.
func (t Token) Fiber() Fiber { return t.fiber }

// Bits returns t as a number, which is how guests hold it; null is 0. [TokenOf] is the way back.
func (t Token) Bits() uint64 { return uint64(t.number)<<32 | uint64(t.fiber) }

// TokenOf returns the token that [Token.Bits] made the number of. It takes any number: Check refuses a token that no
// Mint has returned.
func TokenOf(bits uint64) Token { return Token{Fiber(bits), uint32(bits >> 32)} }
