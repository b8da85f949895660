package conformance

import "github.com/fiberfill/fiberfill/polyfill"

// What stacks and cont have in common: single-use references.

func (m *model) token(n int8) *single {
	if n >= 0 && int(n) < len(m.refs) {
		return m.refs[n]
	}
	return nil
}

// notGood returns OK if a reference is good, else the reason why it is refused.
func notGood(ref *single) polyfill.Trap {
	switch {
	case ref == nil:
		return polyfill.NullReference
	case ref.of.good != ref:
		return polyfill.StaleToken
	}
	return polyfill.OK
}

func (m *model) makeSingle(gives int8, waits []polyfill.Type) *computation {
	c := &computation{number: int16(len(m.all)), gives: gives, waits: waits}
	c.piece = []*computation{c}
	m.all = append(m.all, c)
	return c
}

// rulesStacks is stacks. The live chain has one computation.
type rulesStacks struct{}

func (rulesStacks) refusal(m *model, op *Op) polyfill.Trap {
	c, ref := m.active(), m.token(op.A)
	switch op.Code {
	case New:
		return polyfill.OK
	case NewRef:
		if op.A == Null {
			return polyfill.NullReference
		}
		return polyfill.OK
	}
	if trap := notGood(ref); trap != polyfill.OK {
		return trap
	}
	sent := m.values(op.sent(), op.N).types
	if op.Code == Bind {
		if n := len(sent); n > len(ref.of.waits) || !takes(ref.of.waits[:n], sent) {
			return polyfill.WrongPayload
		}
		return polyfill.OK
	}
	for _, frame := range c.frames {
		if frame.op != nil && frame.op.Code == Host {
			return polyfill.HostFrames
		}
	}
	if op.Code == SwitchThrow || op.Code == ReturnSwitchThrow {
		return polyfill.OK
	}
	if !takes(ref.of.waits, sent) || op.Code == SwitchRetire && !ref.of.nullable {
		return polyfill.WrongPayload
	}
	if op.Code == SwitchRetire && c.number == Root {
		return polyfill.EntryRetired
	}
	return polyfill.OK
}

func (rulesStacks) perform(m *model, op *Op) {
	c, ref := m.active(), m.token(op.A)
	v := m.values(op.sent(), op.N)
	switch op.Code {
	case New, NewRef:
		n := m.makeSingle(0, Signatures[op.Wants])
		n.nullable = op.Maybe
		m.record(Outcome{Kind: Made, Who: c.number, Ref: m.number(m.mint(n)) + 1})
		return
	case Bind:
		t := ref.of
		t.waits = t.waits[len(v.types):]
		t.bound.types, t.bound.bits = append(t.bound.types, v.types...), append(t.bound.bits, v.bits...)
		m.record(Outcome{Kind: Made, Who: c.number, Ref: m.number(m.mint(t)) + 1})
		return
	}
	m.detach(0)
	var back *single
	if op.Code == SwitchRetire {
		c.end()
	} else {
		c.pending, c.waits, c.nullable = op, Signatures[op.Wants], op.Maybe
		if op.Code == ReturnSwitch || op.Code == ReturnSwitchThrow {
			c.frames[len(c.frames)-1].handles = nil
		}
		back = m.mint(c)
	}
	t := ref.of
	m.attach(t)
	bound := t.bound
	t.bound = values{}
	if op.Code == SwitchThrow || op.Code == ReturnSwitchThrow {
		m.raise(t, t.pending, op.N, back)
		return
	}
	o := Outcome{Kind: Returned, Who: t.number, Ref: m.number(back) + 1}
	o.set(values{append(bound.types, v.types...), append(bound.bits, v.bits...)})
	if !t.started {
		m.start(t, o)
		return
	}
	m.record(o)
}

func (rulesStacks) returned(m *model, _ *computation, _ values) { m.trap(polyfill.FunctionReturned) }
func (rulesStacks) threw(m *model, _ *computation, _ int16)     { m.trap(polyfill.FunctionThrew) }

// rulesCont is cont.
type rulesCont struct{}

// outer returns the place in the chain of the continuation that an event detaches, 0 if no resumer admits it.
func (rulesCont) outer(m *model, tag int8, v values) int {
	for i := len(m.chain) - 1; i > 0; i-- {
		resumer := m.chain[i-1]
		if place(resumer.list, tag) < 0 {
			continue
		}
		if op := resumer.pending; op.Code == Resume && op.If != 0 &&
			(len(v.bits) == 0 || v.bits[0] != value(v.types[0], op.If)) {
			continue
		}
		return i
	}
	return 0
}

func (m *model) evt(n int8) *reified {
	if n >= 0 && int(n) < len(m.evts) {
		return m.evts[n]
	}
	return nil
}

func (r rulesCont) refusal(m *model, op *Op) polyfill.Trap {
	switch op.Code {
	case New:
		if op.A == Null {
			return polyfill.NullReference
		}
	case Resume:
		ref := m.token(op.A)
		if trap := notGood(ref); trap != polyfill.OK {
			return trap
		}
		if !takes(leaf(ref.of).waits, m.values(op.sent(), op.N).types) {
			return polyfill.WrongPayload
		}
	case ThrowInto:
		return notGood(m.token(op.A))
	case Suspend:
		if trap := m.wrongEvent(op); trap != polyfill.OK {
			return trap
		}
		if r.outer(m, op.Tag, m.values(op.sent(), op.N)) == 0 {
			return polyfill.NoContinuation
		}
	case BrOnEvt, Forward:
		e := m.evt(op.A)
		if e == nil {
			return polyfill.NullReference
		}
		if op.Code == BrOnEvt {
			return polyfill.OK
		}
		if trap := notGood(e.ref); trap != polyfill.OK {
			return trap
		}
		if r.outer(m, e.tag, e.v) == 0 {
			return polyfill.NoContinuation
		}
	}
	return polyfill.OK
}

func (r rulesCont) perform(m *model, op *Op) {
	c := m.active()
	v := m.values(op.sent(), op.N)
	switch op.Code {
	case New:
		made := m.mint(m.makeSingle(op.Gives, Signatures[op.sent()]))
		m.record(Outcome{Kind: Made, Who: c.number, Ref: m.number(made) + 1})
	case BrOnEvt:
		e := m.evt(op.A)
		if e.tag != op.Tag {
			m.record(Outcome{Kind: NoMatch, Who: c.number})
			return
		}
		o := Outcome{Kind: Taken, Who: c.number, Label: Null, Tag: op.Tag + 1, Ref: m.number(e.ref) + 1}
		o.set(e.v)
		m.record(o)
	case Resume:
		m.enter(op, m.token(op.A))
		m.answer(v)
	case ThrowInto:
		m.enter(&Op{Code: op.Code, N: op.N, Catch: op.Catch}, m.token(op.A))
		m.raise(m.active(), m.active().pending, op.N, nil)
	case Suspend:
		i := r.outer(m, op.Tag, v)
		c.pending, c.list, c.waits = op, nil, Signatures[Tags[op.Tag].Results]
		m.reify(i, op.Tag, v)
	case Forward:
		e := m.evt(op.A)
		i := r.outer(m, e.tag, e.v)
		m.enter(op, e.ref)
		m.reify(i, e.tag, e.v)
	}
}

// enter puts a continuation below the active computation, which waits at op.
func (m *model) enter(op *Op, ref *single) {
	c := m.active()
	c.pending, c.list = op, op.On
	m.attach(ref.of)
}

// answer delivers the values of a resume to the leaf.
func (m *model) answer(v values) {
	c := m.active()
	o := Outcome{Kind: Returned, Who: c.number}
	o.set(v)
	if !c.started {
		m.start(c, o)
		return
	}
	m.record(o)
}

// reify detaches the continuation at place i and gives its resumer the event.
func (m *model) reify(i int, tag int8, v values) {
	top := m.detach(i)
	m.evts = append(m.evts, &reified{tag, v, m.mint(top)})
	o := Outcome{Kind: Taken, Who: m.active().number, Tag: tag + 1, Ref: int16(len(m.evts))}
	o.set(v)
	m.record(o)
}

func (rulesCont) returned(m *model, c *computation, v values) {
	if !takes(Signatures[c.gives], v.types) {
		m.trap(polyfill.WrongResults)
		return
	}
	o := Outcome{Kind: Returned, Who: m.pop().number}
	o.set(v)
	m.record(o)
}

func (rulesCont) threw(m *model, _ *computation, n int16) { m.throwInParent(n) }
