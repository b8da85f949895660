package polyfill_test

import (
	"testing"

	"github.com/fiberfill/fiberfill/polyfill"
)

// machine is the machine with expectations: each method performs an operation and fails the test unless control goes
// where it should.
type machine struct {
	polyfill.Machine
	t *testing.T
}

func (m *machine) fibers() (p, c, q polyfill.Fiber) { return m.New(), m.New(), m.New() }

func (m *machine) went(op string, got polyfill.Fiber, trap polyfill.Trap, want polyfill.Fiber) {
	m.t.Helper()
	if trap != polyfill.OK {
		m.t.Fatalf("%s: trap %q", op, trap)
	}
	if got != want || m.Active() != want {
		m.t.Fatalf("%s = %#x, active %#x, want %#x", op, got, m.Active(), want)
	}
}

func (m *machine) enter(f, leaf polyfill.Fiber) {
	m.t.Helper()
	got, trap := m.Enter(f)
	m.went("Enter", got, trap, leaf)
}

func (m *machine) detach(f, parent polyfill.Fiber) {
	m.t.Helper()
	got, trap := m.Detach(f)
	m.went("Detach", got, trap, parent)
}

func (m *machine) replace(s, t, leaf polyfill.Fiber) {
	m.t.Helper()
	got, trap := m.Replace(s, t)
	m.went("Replace", got, trap, leaf)
}

func (m *machine) ret(parent polyfill.Fiber) {
	m.t.Helper()
	got, trap := m.Return()
	m.went("Return", got, trap, parent)
}

func (m *machine) kill(f polyfill.Fiber) {
	m.t.Helper()
	if trap := m.Kill(f); trap != polyfill.OK {
		m.t.Fatalf("Kill: trap %q", trap)
	}
}

func (m *machine) is(f polyfill.Fiber, state polyfill.State, parent polyfill.Fiber) {
	m.t.Helper()
	if got := m.State(f); got != state {
		m.t.Errorf("State = %v, want %v", got, state)
	}
	if got := m.Parent(f); got != parent {
		m.t.Errorf("Parent = %#x, want %#x", got, parent)
	}
}

func (m *machine) refuses(what string, got, want polyfill.Trap) {
	m.t.Helper()
	if got != want {
		m.t.Errorf("%s: trap %q, want %q", what, got, want)
	}
}

func trapOf(_ polyfill.Fiber, trap polyfill.Trap) polyfill.Trap { return trap }

func TestChains(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(m *machine)
	}{
		{"P1: a new fiber is suspended, not started, without parent, and nothing runs", func(m *machine) {
			f := m.New()
			m.is(f, polyfill.Suspended, 0)
			if m.Started(f) || m.Active() != 0 || m.Leaf(f) != f || m.Live() != 1 {
				m.t.Errorf("started %v, active %#x, leaf %#x, live %d", m.Started(f), m.Active(), m.Leaf(f), m.Live())
			}
		}},
		{"K-1: the zero machine has the root active, and exactly one computation is active ever " +
			"after", func(m *machine) {
			p, c, _ := m.fibers()
			active := func(want polyfill.Fiber) {
				m.t.Helper()
				n := 0
				for _, f := range []polyfill.Fiber{p, c} {
					if m.State(f) == polyfill.Active {
						n++
					}
				}
				if m.Active() != want || (want == 0) != (n == 0) || n > 1 {
					m.t.Fatalf("active %#x, want %#x; %d fibers say that they are", m.Active(), want, n)
				}
			}
			active(0)
			m.enter(p, p)
			active(p)
			m.enter(c, c)
			active(c)
			m.detach(c, p)
			active(p)
			m.ret(0)
			active(0)
		}},
		{"A-PARENT-2: whoever enters a fiber next is its parent", func(m *machine) {
			p, c, q := m.fibers()
			m.enter(p, p)
			m.enter(c, c)
			m.is(c, polyfill.Active, p)
			m.detach(c, p)
			m.is(c, polyfill.Suspended, 0)
			m.detach(p, 0)
			m.enter(q, q)
			m.enter(c, c)
			m.is(c, polyfill.Active, q)
			m.ret(q)
		}},
		{"X-EDGE-1, A-SUSPEND-6: a child suspends its parent", func(m *machine) {
			p, c, _ := m.fibers()
			m.enter(p, p)
			m.enter(c, c)
			m.detach(p, 0)
			m.is(p, polyfill.Suspended, 0)
			m.is(c, polyfill.Carried, p)
			m.refuses("resume C", trapOf(m.Enter(c)), polyfill.NotSuspended)
			m.refuses("release C", m.Kill(c), polyfill.NotSuspended)
			m.refuses("suspend P from the root", trapOf(m.Detach(p)), polyfill.NotInChain)
			m.enter(p, c)
			m.is(p, polyfill.Busy, 0)
			m.is(c, polyfill.Active, p)
			m.ret(p)
			m.ret(0)
		}},
		{"X-EDGE-2, A-SWITCH-2, A-SWITCH-4: X to Y and back; X returns; the second release traps", func(m *machine) {
			x, y, _ := m.fibers()
			m.enter(x, x)
			m.replace(x, y, y)
			m.is(x, polyfill.Suspended, 0)
			m.replace(y, x, x)
			m.ret(0)
			m.is(y, polyfill.Suspended, 0)
			m.kill(y)
			m.refuses("release Y again", m.Kill(y), polyfill.Over)
		}},
		{"X-EDGE-4, B-SWITCH-4: switching an ancestor moves its parent and keeps what it carries", func(m *machine) {
			f1, f2, g := m.fibers()
			m.enter(f1, f1)
			m.enter(f2, f2)
			m.replace(f1, g, g)
			m.is(g, polyfill.Active, 0)
			m.is(f1, polyfill.Suspended, 0)
			m.is(f2, polyfill.Carried, f1)
			m.refuses("mount F2", trapOf(m.Enter(f2)), polyfill.NotSuspended)
			m.refuses("release F2", m.Kill(f2), polyfill.NotSuspended)
			m.refuses("mount G itself", trapOf(m.Enter(g)), polyfill.NotSuspended)
			m.replace(g, f1, f2)
			m.is(g, polyfill.Suspended, 0)
			m.is(f1, polyfill.Busy, 0)
			m.is(f2, polyfill.Active, f1)
		}},
		{"A-SWITCH-6, B-SWITCH-6: replacing a fiber by itself moves nothing", func(m *machine) {
			p, c, _ := m.fibers()
			m.enter(p, p)
			m.enter(c, c)
			m.replace(c, c, c)
			m.replace(p, p, c)
			m.is(p, polyfill.Busy, 0)
			m.is(c, polyfill.Active, p)
		}},
		{"X-EDGE-9, A-RELEASE-1: a moribund fiber is told from a mounted one", func(m *machine) {
			// A traps on the second release and B is silent: the machine has to tell the two cases apart, the view
			// decides.
			p, c, _ := m.fibers()
			m.kill(c)
			m.refuses("release a moribund", m.Kill(c), polyfill.Over)
			m.enter(p, p)
			m.refuses("release a mounted", m.Kill(p), polyfill.NotSuspended)
		}},
		{"K-8: inner links survive any number of detachments", func(m *machine) {
			a, b, c := m.fibers()
			d, h := m.New(), m.New()
			m.enter(a, a)
			m.enter(b, b)
			m.enter(c, c)
			m.detach(b, a) // b > c
			m.enter(d, d)
			m.enter(b, c)
			m.is(b, polyfill.Busy, d)
			m.detach(d, a) // d > b > c
			m.is(b, polyfill.Carried, d)
			m.is(c, polyfill.Carried, b)
			m.detach(a, 0) // a alone: it had no child any more
			m.is(d, polyfill.Suspended, 0)
			m.enter(h, h)
			m.enter(d, c)
			m.is(d, polyfill.Busy, h)
			m.ret(b)
			m.ret(d)
			m.ret(h)
			m.ret(0)
			m.enter(a, a)
		}},
		{"A-RELEASE-2: killing a piece ends all that it carries and nothing else", func(m *machine) {
			a, b, c := m.fibers()
			free := m.New()
			m.enter(a, a)
			m.enter(b, b)
			m.enter(c, c)
			m.detach(a, 0)
			m.kill(a)
			for _, f := range []polyfill.Fiber{a, b, c} {
				m.is(f, polyfill.Moribund, 0)
			}
			m.is(free, polyfill.Suspended, 0)
			if m.Live() != 1 || m.Active() != 0 {
				m.t.Errorf("live %d, active %#x, want 1 and the root", m.Live(), m.Active())
			}
		}},
		{"A-RELEASE-3: a fiber that never started is killed like any other, by a running one too", func(m *machine) {
			p, c, _ := m.fibers()
			m.enter(p, p)
			m.kill(c)
			if m.Active() != p {
				m.t.Errorf("control left the releaser")
			}
			m.is(c, polyfill.Moribund, 0)
		}},
		{"A-RETIRE-4: fibers that have suspended on their own survive the end of their parent", func(m *machine) {
			p, c, _ := m.fibers()
			m.enter(p, p)
			m.enter(c, c)
			m.detach(c, p)
			m.ret(0)
			m.is(c, polyfill.Suspended, 0)
			m.enter(c, c)
		}},
		{"A-RET-1: return goes to the one who entered last, not to the first or the maker", func(m *machine) {
			p, c, q := m.fibers()
			m.enter(p, p)
			m.enter(c, c)
			m.detach(c, p)
			m.enter(q, q)
			m.enter(c, c)
			m.ret(q)
			m.is(c, polyfill.Moribund, 0)
			m.ret(p)
		}},
		{"A-PARENT-3: the root cannot return", func(m *machine) {
			if _, trap := m.Return(); trap != polyfill.OnRoot {
				m.t.Errorf("Return: trap %q, want %q", trap, polyfill.OnRoot)
			}
		}},
		{"K-9: a trap ends the live chain, all of it, and nothing else", func(m *machine) {
			p, c, q := m.fibers()
			parked, carried := m.New(), m.New()
			m.enter(parked, parked)
			m.enter(carried, carried)
			m.detach(parked, 0)
			m.enter(p, p)
			m.enter(c, c)
			m.Unwind()
			m.is(p, polyfill.Moribund, 0)
			m.is(c, polyfill.Moribund, 0)
			m.is(q, polyfill.Suspended, 0)
			m.is(carried, polyfill.Carried, parked)
			if m.Active() != 0 || m.Live() != 3 {
				m.t.Errorf("active %#x, live %d, want the root and 3", m.Active(), m.Live())
			}
			m.enter(parked, carried)
		}},
		{"K-9: unwinding the root alone does nothing", func(m *machine) {
			f := m.New()
			m.Unwind()
			m.is(f, polyfill.Suspended, 0)
		}},
		{"A-STATE-2: a moribund reference stays a value and every use of it is refused", func(m *machine) {
			f := m.New()
			m.kill(f)
			g := m.New() // in the same place
			m.is(f, polyfill.Moribund, 0)
			m.refuses("Enter", trapOf(m.Enter(f)), polyfill.Over)
			m.refuses("Detach", trapOf(m.Detach(f)), polyfill.Over)
			m.is(g, polyfill.Suspended, 0)
		}},
		{"Started: false until the first entry, true until the end", func(m *machine) {
			f := m.New()
			for _, step := range []struct {
				do   func()
				want bool
			}{
				{func() {}, false},
				{func() { m.enter(f, f) }, true},
				{func() { m.detach(f, 0) }, true},
				{func() { m.kill(f) }, false},
			} {
				step.do()
				if m.Started(f) != step.want {
					m.t.Errorf("Started in state %v = %v", m.State(f), !step.want)
				}
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(&machine{t: t}) })
	}
}
