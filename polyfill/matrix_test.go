package polyfill

import (
	"reflect"
	"slices"
	"testing"
)

// situation is a machine with one fiber in every state there is:
//
//	root > busy > active        parked > carried        fresh        over
type situation struct {
	Machine
	null, invented, fresh, parked, carried, busy, active, over Fiber
	target                                                     Fiber // another fresh one
}

func newSituation() *situation {
	s := new(situation)
	s.parked, s.carried, s.busy, s.active = s.New(), s.New(), s.New(), s.New()
	s.fresh, s.target, s.over = s.New(), s.New(), s.New()
	s.invented = s.over + 1
	s.Enter(s.parked)
	s.Enter(s.carried)
	s.Detach(s.parked)
	s.Kill(s.over)
	s.Enter(s.busy)
	s.Enter(s.active)
	return s
}

func (s *situation) clone() Machine {
	m := s.Machine
	m.slots = slices.Clone(m.slots)
	return m
}

// What every operation does to a fiber in every state: the table of the package comment, and the clause of K-2 that a
// refused operation changes nothing.
func TestOperationByState(t *testing.T) {
	columns := []struct {
		name  string
		fiber func(*situation) Fiber
		state State
	}{
		{"null", func(s *situation) Fiber { return s.null }, Invalid},
		{"invented", func(s *situation) Fiber { return s.invented }, Invalid},
		{"fresh", func(s *situation) Fiber { return s.fresh }, Suspended},
		{"parked", func(s *situation) Fiber { return s.parked }, Suspended},
		{"active", func(s *situation) Fiber { return s.active }, Active},
		{"busy", func(s *situation) Fiber { return s.busy }, Busy},
		{"carried", func(s *situation) Fiber { return s.carried }, Carried},
		{"over", func(s *situation) Fiber { return s.over }, Moribund},
	}
	type cell struct {
		trap  Trap
		after State // of the operand, if there is no trap
	}
	ok := func(s State) cell { return cell{OK, s} }
	no := func(t Trap) cell { return cell{t, Invalid} }
	// One row an operation, one cell a column.
	rows := []struct {
		name  string
		run   func(s *situation, f Fiber) Trap
		cells [8]cell
	}{
		{"Enter(f)", func(s *situation, f Fiber) Trap { _, trap := s.Enter(f); return trap }, [8]cell{
			no(NullReference), no(UnknownReference), ok(Active), ok(Busy),
			no(NotSuspended), no(NotSuspended), no(NotSuspended), no(Over)}},
		{"Detach(f)", func(s *situation, f Fiber) Trap { _, trap := s.Detach(f); return trap }, [8]cell{
			no(NullReference), no(UnknownReference), no(NotInChain), no(NotInChain),
			ok(Suspended), ok(Suspended), no(NotInChain), no(Over)}},
		{"Replace(f, fresh)", func(s *situation, f Fiber) Trap {
			_, trap := s.Replace(f, s.target)
			return trap
		}, [8]cell{
			no(NullReference), no(UnknownReference), no(NotInChain), no(NotInChain),
			ok(Suspended), ok(Suspended), no(NotInChain), no(Over)}},
		{"Replace(active, f)", func(s *situation, f Fiber) Trap {
			_, trap := s.Replace(s.active, f)
			return trap
		}, [8]cell{
			no(NullReference), no(UnknownReference), ok(Active), ok(Busy),
			ok(Active), no(NotSuspended), no(NotSuspended), no(Over)}},
		{"Replace(f, f)", func(s *situation, f Fiber) Trap { _, trap := s.Replace(f, f); return trap }, [8]cell{
			no(NullReference), no(UnknownReference), no(NotInChain), no(NotInChain),
			ok(Active), ok(Busy), no(NotInChain), no(Over)}},
		{"Kill(f)", func(s *situation, f Fiber) Trap { return s.Kill(f) }, [8]cell{
			no(NullReference), no(UnknownReference), ok(Moribund), ok(Moribund),
			no(NotSuspended), no(NotSuspended), no(NotSuspended), no(Over)}},
		{"Mint(f)", func(s *situation, f Fiber) Trap { _, trap := s.Mint(f); return trap }, [8]cell{
			no(NullReference), no(UnknownReference), ok(Suspended), ok(Suspended),
			no(NotSuspended), no(NotSuspended), no(NotSuspended), no(Over)}},
	}
	for _, row := range rows {
		for i, column := range columns {
			t.Run("K-2 "+row.name+" with f "+column.name, func(t *testing.T) {
				s := newSituation()
				f, want := column.fiber(s), row.cells[i]
				if got := s.State(f); got != column.state {
					t.Fatalf("State() = %v before, want %v", got, column.state)
				}
				before := s.clone()
				if got := row.run(s, f); got != want.trap {
					t.Fatalf("trap = %q, want %q", got, want.trap)
				}
				if want.trap != OK {
					before.looked = s.looked // the text of a refusal is no part of the state
					if !reflect.DeepEqual(before, s.Machine) {
						t.Errorf("a refused operation changed the machine:\nbefore %+v\nafter  %+v", before, s.Machine)
					}
					return
				}
				if got := s.State(f); got != want.after {
					t.Errorf("State() = %v after, want %v", got, want.after)
				}
			})
		}
	}
}

// K-2: the operands are checked from left to right, before anything else.
func TestReplaceChecksTheFirstOperandFirst(t *testing.T) {
	s := newSituation()
	for _, c := range []struct {
		s, t Fiber
		want Trap
	}{
		{s.null, s.over, NullReference},
		{s.over, s.null, Over},
		{s.fresh, s.null, NotInChain},
		{s.active, s.null, NullReference},
		{s.busy, s.active, NotSuspended},
		{s.active, s.busy, NotSuspended},
	} {
		if _, got := s.Replace(c.s, c.t); got != c.want {
			t.Errorf("Replace(%v, %v): trap = %q, want %q", s.State(c.s), s.State(c.t), got, c.want)
		}
	}
}

// The pure tests answer for every state; what they answer for a fiber without the property asked for is the null
// reference, or false.
func TestAnswersByState(t *testing.T) {
	s := newSituation()
	for _, c := range []struct {
		name         string
		f            Fiber
		state        State
		started      bool
		leaf, parent Fiber
	}{
		{"null", s.null, Invalid, false, 0, 0},
		{"invented", s.invented, Invalid, false, 0, 0},
		{"fresh", s.fresh, Suspended, false, s.fresh, 0},
		{"parked", s.parked, Suspended, true, s.carried, 0},
		{"carried", s.carried, Carried, true, 0, s.parked},
		{"busy", s.busy, Busy, true, 0, 0},
		{"active", s.active, Active, true, 0, s.busy},
		{"over", s.over, Moribund, false, 0, 0},
	} {
		if got := s.State(c.f); got != c.state {
			t.Errorf("State(%s) = %v, want %v", c.name, got, c.state)
		}
		if got := s.Started(c.f); got != c.started {
			t.Errorf("Started(%s) = %v, want %v", c.name, got, c.started)
		}
		if got := s.Leaf(c.f); got != c.leaf {
			t.Errorf("Leaf(%s) = %#x, want %#x", c.name, got, c.leaf)
		}
		if got := s.Parent(c.f); got != c.parent {
			t.Errorf("Parent(%s) = %#x, want %#x", c.name, got, c.parent)
		}
	}
	if s.Active() != s.active {
		t.Errorf("Active() = %#x, want %#x", s.Active(), s.active)
	}
	if s.Live() != 6 {
		t.Errorf("Live() = %d, want 6", s.Live())
	}
}

// The words that users see in messages.
func TestNames(t *testing.T) {
	states := map[State]string{Invalid: "invalid", Suspended: "suspended", Active: "active", Busy: "busy",
		Carried: "carried", Moribund: "moribund", 99: "invalid"}
	for s, want := range states {
		if s.String() != want {
			t.Errorf("State(%d).String() = %q, want %q", s, s, want)
		}
	}
	seen := map[string]Trap{}
	for trap := OK; trap <= lastTrap; trap++ {
		name := trap.String()
		if other, double := seen[name]; double || name == "" || name == "unknown trap" {
			t.Errorf("Trap(%d).String() = %q, the same as of %d or no reason at all", trap, name, other)
		}
		seen[name] = trap
	}
	if got := (lastTrap + 1).String(); got != "unknown trap" {
		t.Errorf("the trap after the last one is called %q", got)
	}
}
