package conformance

import "github.com/fiberfill/fiberfill/polyfill"

// What fibers1 and fibers2 have in common: stable references, and events.

// make makes a fiber that is started by one of the tags of list.
func (m *model) make(n int16, gives int8, list []int8) *computation {
	c := &computation{number: int16(len(m.all)), n: n, gives: gives, list: list}
	c.piece = []*computation{c}
	m.all = append(m.all, c)
	return c
}

func (m *model) fiber(n int8) *computation {
	if n >= 0 && int(n) < len(m.all) {
		return m.all[n]
	}
	return nil
}

// missing returns OK if a number is a reference to a fiber, else the reason.
func (m *model) missing(n int8) polyfill.Trap {
	switch {
	case n == Fake:
		return polyfill.UnknownReference
	case m.fiber(n) == nil:
		return polyfill.NullReference
	}
	return polyfill.OK
}

func (m *model) notSuspended(n int8) polyfill.Trap {
	if trap := m.missing(n); trap != polyfill.OK {
		return trap
	}
	switch f := m.fiber(n); {
	case f.over:
		return polyfill.Over
	case f.piece == nil:
		return polyfill.NotSuspended
	}
	return polyfill.OK
}

func (m *model) notInChain(n int8) polyfill.Trap {
	if trap := m.missing(n); trap != polyfill.OK {
		return trap
	}
	switch f := m.fiber(n); {
	case f.over:
		return polyfill.Over
	case m.position(f) < 0:
		return polyfill.NotInChain
	}
	return polyfill.OK
}

// notReplaceable checks, in this order, that both are references, that s is in the chain and that t is suspended.
func (m *model) notReplaceable(s, t int8) polyfill.Trap {
	for _, trap := range []polyfill.Trap{m.missing(s), m.missing(t), m.notInChain(s), m.notSuspended(t)} {
		if trap != polyfill.OK {
			return trap
		}
	}
	return polyfill.OK
}

// wrongEvent checks that the tag is of this machine and that the payload is the tag's.
func (m *model) wrongEvent(op *Op) polyfill.Trap {
	if op.Tag < 0 {
		return polyfill.UnknownTag
	}
	if !takes(Signatures[Tags[op.Tag].Params], m.values(op.sent(), op.N).types) {
		return polyfill.WrongPayload
	}
	return polyfill.OK
}

func (m *model) parent(f *computation) *computation { return m.chain[m.position(f)-1] }

func leaf(f *computation) *computation { return f.piece[len(f.piece)-1] }

// wait parks the active computation at op.
func (m *model) wait(op *Op) {
	c := m.active()
	c.pending, c.list = op, c.takes(op)
}

// takes returns the tags that an operation takes: its own, then those of the handles around it from the innermost out.
func (c *computation) takes(op *Op) []int8 {
	list := append([]int8(nil), op.On...)
	handles := c.frames[len(c.frames)-1].handles
	for i := len(handles) - 1; i >= 0; i-- {
		list = append(list, handles[i]...)
	}
	return list
}

// arrive delivers an event to the active computation, which takes it.
func (m *model) arrive(tag int8, v values) {
	c := m.active()
	o := Outcome{Kind: Taken, Who: c.number, Tag: tag + 1}
	label := place(c.list, tag)
	o.Label = int8(label)
	o.set(v)
	if !c.started {
		m.start(c, o)
		return
	}
	top := &c.frames[len(c.frames)-1]
	if label -= len(c.pending.On); label >= 0 {
		for i := len(top.handles) - 1; i >= 0; i-- {
			if label < len(top.handles[i]) {
				top.handles = top.handles[:i+1]
				break
			}
			label -= len(top.handles[i])
		}
	}
	if c.pending.Code == MountNew || c.pending.Code == SwitchNew {
		o.Ref = c.made + 1
		if o.Label == 0 {
			o.Kind, o.Tag = Returned, 0
		} else {
			o.Label--
		}
	}
	m.record(o)
}

// start lets the function of the active computation begin.
func (m *model) start(c *computation, o Outcome) {
	c.started = true
	c.frames = make([]activation, 1)
	o.Kind, o.Who, o.N = Started, c.number, c.n
	m.record(o)
}

// rulesFibers1 is fibers1.
type rulesFibers1 struct{}

func (rulesFibers1) refusal(m *model, op *Op) polyfill.Trap {
	switch op.Code {
	case New, Spawn:
		return polyfill.OK
	case Release:
		return m.notSuspended(op.A)
	}
	if trap := m.wrongEvent(op); trap != polyfill.OK {
		return trap
	}
	var receiver []int8
	switch op.Code {
	case Suspend, Retire:
		if trap := m.notInChain(op.A); trap != polyfill.OK {
			return trap
		}
		receiver = m.parent(m.fiber(op.A)).list
	case Resume:
		if trap := m.notSuspended(op.A); trap != polyfill.OK {
			return trap
		}
		receiver = leaf(m.fiber(op.A)).list
	case Switch, RetireTo:
		if op.Code == Switch && op.A == op.B && m.notInChain(op.A) == polyfill.OK {
			receiver = m.active().takes(op)
			break
		}
		if trap := m.notReplaceable(op.A, op.B); trap != polyfill.OK {
			return trap
		}
		if m.fiber(op.A).gives != m.fiber(op.B).gives {
			return polyfill.WrongResults
		}
		receiver = leaf(m.fiber(op.B)).list
	}
	if place(receiver, op.Tag) < 0 {
		return polyfill.Unhandled
	}
	return polyfill.OK
}

func (rulesFibers1) perform(m *model, op *Op) {
	c, f, t := m.active(), m.fiber(op.A), m.fiber(op.B)
	v := m.values(op.sent(), op.N)
	switch op.Code {
	case New:
		m.record(Outcome{Kind: Made, Who: c.number, Ref: m.make(op.N, op.Gives, op.On).number + 1})
		return
	case Spawn:
		m.wait(op)
		m.attach(m.make(op.N, op.Gives, nil))
		m.start(m.active(), Outcome{})
		return
	case Release:
		kill(f)
		m.record(Outcome{Kind: Fell, Who: c.number})
		return
	case Suspend:
		m.wait(op)
		m.detach(m.position(f))
	case Resume:
		m.wait(op)
		m.attach(f)
	case Switch:
		m.wait(op)
		if f != t {
			m.detach(m.position(f))
			m.attach(t)
		}
	case Retire:
		kill(m.detach(m.position(f)))
	case RetireTo:
		kill(m.detach(m.position(f)))
		m.attach(t)
	}
	m.arrive(op.Tag, v)
}

func (rulesFibers1) returned(m *model, c *computation, v values) {
	if !takes(Signatures[c.gives], v.types) {
		m.trap(polyfill.WrongResults)
		return
	}
	o := Outcome{Kind: Returned, Who: m.pop().number}
	o.set(v)
	m.record(o)
}

func (rulesFibers1) threw(m *model, _ *computation, n int16) { m.throwInParent(n) }

func (m *model) throwInParent(n int16) {
	parent := m.pop()
	m.raise(parent, parent.pending, n, nil)
}

// rulesFibers2 is fibers2.
type rulesFibers2 struct{}

// receiver returns the list in which the event of an operation is looked up.
func (rulesFibers2) receiver(m *model, op *Op) []int8 {
	f, t := m.fiber(op.A), m.fiber(op.B)
	switch op.Code {
	case Mount:
		return leaf(f).list
	case Dismount, DismountRelease:
		return m.parent(f).list
	}
	if f == t {
		return op.On
	}
	return leaf(t).list
}

func (rulesFibers2) refusal(m *model, op *Op) polyfill.Trap {
	switch op.Code {
	case New:
		if op.Tag < 0 {
			return polyfill.UnknownTag
		}
		return polyfill.OK
	case MountNew, SwitchNew:
		if op.Code == SwitchNew {
			if trap := m.notInChain(op.A); trap != polyfill.OK {
				return trap
			}
		}
		if len(op.On) == 0 {
			return polyfill.UnknownTag
		}
		return polyfill.OK
	case Release:
		if f := m.fiber(op.A); f != nil && f.over {
			return polyfill.OK
		}
		return m.notSuspended(op.A)
	}
	if trap := m.wrongEvent(op); trap != polyfill.OK {
		return trap
	}
	switch op.Code {
	case Mount:
		return m.notSuspended(op.A)
	case Dismount, DismountRelease:
		return m.notInChain(op.A)
	}
	if op.A == op.B && m.notInChain(op.A) == polyfill.OK {
		if op.Code == SwitchRelease {
			return polyfill.NotSuspended
		}
		return polyfill.OK
	}
	return m.notReplaceable(op.A, op.B)
}

func (r rulesFibers2) perform(m *model, op *Op) {
	c, f, t := m.active(), m.fiber(op.A), m.fiber(op.B)
	switch op.Code {
	case New:
		m.record(Outcome{Kind: Made, Who: c.number, Ref: m.make(op.N, op.Tag, op.On).number + 1})
		return
	case Release:
		if !f.over {
			kill(f)
		}
		m.record(Outcome{Kind: Fell, Who: c.number})
		return
	case MountNew, SwitchNew:
		g := m.make(op.N, op.On[0], nil)
		m.wait(op)
		c.made = g.number
		if op.Code == SwitchNew {
			m.detach(m.position(f))
		}
		m.attach(g)
		m.start(g, Outcome{})
		return
	}
	if place(r.receiver(m, op), op.Tag) < 0 {
		m.record(Outcome{Kind: Fell, Who: c.number})
		return
	}
	m.wait(op)
	switch op.Code {
	case Mount:
		m.attach(f)
	case Dismount:
		m.detach(m.position(f))
	case DismountRelease:
		kill(m.detach(m.position(f)))
	case Switch, SwitchRelease:
		if f != t {
			m.detach(m.position(f))
			if op.Code == SwitchRelease {
				kill(f)
			}
			m.attach(t)
		}
	}
	m.arrive(op.Tag, m.values(op.sent(), op.N))
}

func (rulesFibers2) returned(m *model, c *computation, v values) {
	if !takes(Signatures[Tags[c.gives].Params], v.types) {
		m.trap(polyfill.WrongPayload)
		return
	}
	if parent := m.pop(); place(parent.list, c.gives) < 0 {
		m.trap(polyfill.Unhandled)
		return
	}
	m.arrive(c.gives, v)
}

func (rulesFibers2) threw(m *model, _ *computation, n int16) { m.throwInParent(n) }
