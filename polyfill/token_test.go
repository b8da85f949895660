package polyfill_test

import (
	"testing"

	"github.com/fiberfill/fiberfill/polyfill"
)

func (m *machine) mint(f polyfill.Fiber) polyfill.Token {
	m.t.Helper()
	token, trap := m.Mint(f)
	if trap != polyfill.OK {
		m.t.Fatalf("Mint: trap %q", trap)
	}
	return token
}

func (m *machine) redeem(token polyfill.Token, want polyfill.Fiber) {
	m.t.Helper()
	if got, trap := m.Redeem(token); got != want || trap != polyfill.OK {
		m.t.Fatalf("Redeem = %#x, %q, want %#x", got, trap, want)
	}
}

// stale asserts that the token is refused, twice, by both operations.
func (m *machine) stale(token polyfill.Token) {
	m.t.Helper()
	for range 2 {
		m.refuses("Check", m.Check(token), polyfill.StaleToken)
		if f, trap := m.Redeem(token); f != 0 || trap != polyfill.StaleToken {
			m.t.Errorf("Redeem = %#x, %q, want %q", f, trap, polyfill.StaleToken)
		}
	}
}

func TestTokens(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(m *machine)
	}{
		{"C-REF-1: a token denotes one suspension and is consumed by its use", func(m *machine) {
			f := m.New()
			token := m.mint(f)
			m.redeem(token, f)
			m.stale(token)
		}},
		{"C-REF-2: any copy is stale after the first use", func(m *machine) {
			f := m.New()
			token := m.mint(f)
			copied := token
			m.redeem(copied, f)
			m.stale(token)
		}},
		{"C-REF-3: the null token is refused as null", func(m *machine) {
			m.New()
			m.refuses("Check", m.Check(polyfill.Token{}), polyfill.NullReference)
			_, trap := m.Redeem(polyfill.Token{})
			m.refuses("Redeem", trap, polyfill.NullReference)
		}},
		{"C-BIND-2: minting again makes every earlier token stale", func(m *machine) {
			f := m.New()
			first := m.mint(f)
			second := m.mint(f)
			third := m.mint(f)
			m.stale(first)
			m.stale(second)
			m.redeem(third, f)
		}},
		{"X-EDGE-10: the old, the original after a bind, and null each trap", func(m *machine) {
			f := m.New()
			original := m.mint(f)
			bound := m.mint(f)
			m.stale(original)
			m.redeem(bound, f)
			m.enter(f, f)
			m.stale(bound)
			m.detach(f, 0)
			m.stale(bound)
			m.refuses("Check", m.Check(polyfill.Token{}), polyfill.NullReference)
		}},
		{"C-REF-4: the active fiber has no valid token", func(m *machine) {
			f := m.New()
			token := m.mint(f)
			m.enter(f, f) // by its reference: that ends the suspension too
			m.stale(token)
			_, trap := m.Mint(f)
			m.refuses("Mint of the active fiber", trap, polyfill.NotSuspended)
		}},
		{"C-SWITCH-4: looking consumes nothing", func(m *machine) {
			f := m.New()
			token := m.mint(f)
			for range 3 {
				m.refuses("Check", m.Check(token), polyfill.OK)
			}
			m.redeem(token, f)
		}},
		{"a token dies with its fiber, and does not denote the next one in its place", func(m *machine) {
			f := m.New()
			token := m.mint(f)
			m.kill(f)
			m.stale(token)
			g := m.New()
			if g.Index() != f.Index() {
				m.t.Fatalf("the place of a dead fiber was not taken again")
			}
			m.stale(token)
			m.redeem(m.mint(g), g)
		}},
		{"K-7: a token comes back from its number, and every other number is refused", func(m *machine) {
			f := m.New()
			token := m.mint(f)
			bits := token.Bits()
			m.stale(polyfill.TokenOf(bits + 1<<32))
			m.stale(polyfill.TokenOf(bits ^ 1<<21))
			m.refuses("Check of null", m.Check(polyfill.TokenOf(0)), polyfill.NullReference)
			m.redeem(polyfill.TokenOf(bits), f)
			m.stale(polyfill.TokenOf(bits))
		}},
		{"a carried fiber is denoted by the token of nobody", func(m *machine) {
			p, c, _ := m.fibers()
			token := m.mint(c)
			m.enter(p, p)
			m.enter(c, c)
			m.detach(p, 0)
			m.stale(token)
			_, trap := m.Mint(c)
			m.refuses("Mint of a carried fiber", trap, polyfill.NotSuspended)
		}},
		{"C-REF-1: a token of an earlier suspension does not redeem a later one", func(m *machine) {
			f := m.New()
			token := m.mint(f)
			m.enter(f, f)
			m.detach(f, 0)
			m.stale(token)
		}},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(&machine{t: t}) })
	}
}
