package run

import (
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/stacks"
)

// Stacks is coroutines by single-use stack references, for Go functions. See package stacks for what the operations
// mean.
type Stacks struct {
	world
	system stacks.System
}

// NewStacks returns a system without coroutines. Close it when it is no longer needed.
func NewStacks() *Stacks {
	s := new(Stacks)
	s.init("stacks", &s.system, &s.system.Machine, &s.system.Plan)
	s.arrive = func() {
		entry, _ := s.system.Enter()
		s.add(entry, s.root.name, nil)
		s.table[entry.Index()] = &s.root
		s.root.bound = nil
	}
	s.leave = func() {
		for i, c := range s.table {
			if c == &s.root {
				s.table[i] = nil
			}
		}
		s.system.Leave()
	}
	return s
}

// StackFunc is the function of a coroutine. It is called with the values of the first switch and the reference to the
// sender, null if the sender has retired. It must end by SwitchRetire; if it returns, it traps (C-RET-1).
type StackFunc func(values Values, sender polyfill.Token)

// NewException makes a tag for exceptions that belongs to no system.
func NewException(name string) *Tag { return &Tag{name: name} }

// Call runs f as the embedder's entry and returns its results. An exception that leaves f, and a trap, are returned as
// an error, a [*Exception] or a [*Trap].
func (s *Stacks) Call(f func() []Value) ([]Value, error) { return s.call(f) }

// New makes a coroutine and returns the first reference to it.
func (s *Stacks) New(name string, awaits stacks.Awaits, f StackFunc) polyfill.Token {
	s.enter()
	t, trap := s.system.New(awaits)
	return s.made(t, trap, name, f)
}

// NewRef is New for a function that may be nil; nil traps (C-NEWREF-1).
func (s *Stacks) NewRef(name string, awaits stacks.Awaits, f StackFunc) polyfill.Token {
	s.enter()
	t, trap := s.system.NewRef(f != nil, awaits)
	return s.made(t, trap, name, f)
}

func (s *Stacks) made(t polyfill.Token, trap polyfill.Trap, name string, f StackFunc) polyfill.Token {
	s.settle(trap)
	s.add(t.Fiber(), name, func() []Value {
		f(s.first().Values, s.plan.Token)
		return nil
	})
	return t
}

// Switch sends the values to the suspension that to denotes and waits for values of the types of awaits. It returns
// those values and the reference to their sender, null if the sender has retired.
func (s *Stacks) Switch(to polyfill.Token, awaits stacks.Awaits, values ...Value) (Values, polyfill.Token) {
	e := s.send(nil, values)
	return s.to(s.system.Switch(to, e.Payload, awaits), values)
}

// to sends the values behind those that have been bound (C-BIND-4).
func (s *Stacks) to(trap polyfill.Trap, values []Value) (Values, polyfill.Token) {
	if trap == polyfill.OK {
		c, m := s.at(s.plan.To), &s.message
		if n := len(c.bound); n > 0 {
			copy(m.buffer[:], c.bound)
			m.n = int32(n + copy(m.buffer[n:], values))
			c.bound = nil
		}
	}
	e := s.transfer(trap)
	return e.Values, s.plan.Token
}

// SwitchRetire sends the values and null, and ends the issuer. It does not return.
func (s *Stacks) SwitchRetire(to polyfill.Token, values ...Value) {
	e := s.send(nil, values)
	s.to(s.system.SwitchRetire(to, e.Payload), values)
}

// Bind supplies the first of the values that the suspension awaits. It returns the new reference to the suspension; all
// earlier ones are stale.
func (s *Stacks) Bind(to polyfill.Token, values ...Value) polyfill.Token {
	s.enter()
	t, trap := s.system.Bind(to, typesOf(values))
	s.settle(trap)
	c := s.at(t.Fiber())
	c.bound = append(c.bound, values...)
	return t
}

// SwitchThrow is Switch with an exception instead of values. Its Back is the reference to the issuer (C-THROW-3).
func (s *Stacks) SwitchThrow(to polyfill.Token, awaits stacks.Awaits, tag *Tag, values ...Value) (Values,
	polyfill.Token) {
	s.enter()
	return s.throw(s.system.SwitchThrow(to, awaits), tag, values)
}

func (s *Stacks) throw(trap polyfill.Trap, tag *Tag, values []Value) (Values, polyfill.Token) {
	if trap == polyfill.OK {
		s.at(s.plan.To).bound = nil
		s.message.exception = &Exception{Tag: tag, Values: append(Values(nil), values...), Back: s.plan.Token}
	}
	e := s.transfer(trap)
	return e.Values, s.plan.Token
}

// ReturnSwitch is Switch in place of the frame that calls it. The function then receives what arrives, and its results
// are the frame's (C-RSW-1). Write `return s.ReturnSwitch(...)`.
func (s *Stacks) ReturnSwitch(to polyfill.Token, awaits stacks.Awaits, then func(Values, polyfill.Token) []Value,
	values ...Value) []Value {
	e := s.send(nil, values)
	return then(s.to(s.system.ReturnSwitch(to, e.Payload, awaits), values))
}

// ReturnSwitchThrow is ReturnSwitch with an exception instead of values (C-RSW-2).
func (s *Stacks) ReturnSwitchThrow(to polyfill.Token, awaits stacks.Awaits, then func(Values, polyfill.Token) []Value,
	tag *Tag, values ...Value) []Value {
	s.enter()
	return then(s.throw(s.system.ReturnSwitchThrow(to, awaits), tag, values))
}

// Host calls f on top of a frame of the host. A coroutine with such a frame cannot be parked: an operation that would
// park it traps (C-SWITCH-7).
func (s *Stacks) Host(f func()) {
	s.enter()
	s.system.Host(1)
	defer func() {
		if !s.current.dead {
			s.system.Host(-1)
		}
	}()
	f()
}
