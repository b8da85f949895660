package conformance

import "github.com/fiberfill/fiberfill/polyfill"

// Reference plays scripts by the rules, slowly and plainly: the live chain is a slice of pointers, a suspended piece is
// a slice of pointers, a single-use reference is a pointer that is good while its computation remembers it. It shares
// nothing with the machine but the names of types and traps.
type Reference struct{}

// Name returns "reference".
func (Reference) Name() string { return "reference" }

// Play implements [Substrate].
func (Reference) Play(s Script) ([]Outcome, error) {
	m := newModel(s.System)
	for i := range s.Ops {
		m.step(i, &s.Ops[i])
	}
	return m.trace, nil
}

// model is all computations of one system.
type model struct {
	rules rules
	trace []Outcome
	chain []*computation // from the entry's to the active one
	all   []*computation // by number
	refs  []*single      // stacks, cont
	evts  []*reified     // cont
}

// rules are one system's.
type rules interface {
	// refusal says why an operation traps, polyfill.OK if it does not. It changes nothing.
	refusal(m *model, op *Op) polyfill.Trap
	// perform does an operation that is not refused.
	perform(m *model, op *Op)
	// returned and threw are the ends of a function; c is active, and not the entry.
	returned(m *model, c *computation, v values)
	threw(m *model, c *computation, n int16)
}

type computation struct {
	number  int16
	over    bool
	started bool
	piece   []*computation // while suspended: itself and what it carries, down to the leaf
	frames  []activation
	pending *Op    // the operation at which it waits
	list    []int8 // the tags that it takes; if never started, those that start it
	n       int16  // captured
	gives   int8   // results, or the return event in B

	made     int16           // number of the fiber that its pending mount_new has made
	waits    []polyfill.Type // stacks, cont: what a leaf waits for
	nullable bool            // stacks
	bound    values          // stacks
	good     *single         // stacks, cont: the reference that is good now
}

// activation is one frame of a computation; the first is its function.
type activation struct {
	op      *Op // the call
	handles [][]int8
}

type single struct{ of *computation }

type reified struct {
	tag int8
	v   values
	ref *single
}

type values struct {
	types []polyfill.Type
	bits  []uint64
}

func newModel(s System) *model {
	m := new(model)
	switch s {
	case Fibers1:
		m.rules = rulesFibers1{}
	case Fibers2:
		m.rules = rulesFibers2{}
	case Stacks:
		m.rules = rulesStacks{}
	case Cont:
		m.rules = rulesCont{}
	}
	return m
}

func (m *model) active() *computation { return m.chain[len(m.chain)-1] }

// open begins an entry from the embedder.
func (m *model) open() {
	m.chain = []*computation{{number: Root, started: true, gives: 1, frames: make([]activation, 1)}}
}

func (m *model) step(i int, op *Op) {
	if len(m.chain) == 0 {
		m.open()
	}
	c := m.active()
	m.record(Outcome{Kind: Issued, Who: c.number, Ref: int16(i) + 1})
	top := &c.frames[len(c.frames)-1]
	switch op.Code {
	case Return:
		m.leave(c, op)
	case Throw:
		m.raise(c, op, op.N, nil)
	case Unreachable:
		m.trap(polyfill.Unreachable)
	case Call, Host:
		c.frames = append(c.frames, activation{op: op})
	case Handle:
		top.handles = append(top.handles, op.On)
		m.record(Outcome{Kind: Fell, Who: c.number})
	case End:
		if n := len(top.handles); n > 0 {
			top.handles = top.handles[:n-1]
		}
		m.record(Outcome{Kind: Fell, Who: c.number})
	default:
		if trap := m.rules.refusal(m, op); trap != polyfill.OK {
			m.trap(trap)
			return
		}
		m.rules.perform(m, op)
	}
}

func (m *model) record(o Outcome) {
	o.Ref--
	o.Tag--
	m.trace = append(m.trace, o)
}

// leave returns from the innermost frame.
func (m *model) leave(c *computation, op *Op) {
	signature := int8(1)
	last := len(c.frames) == 1
	if last && c.number != Root {
		signature = m.resultsOf(c)
	}
	if op.As != Null {
		signature = op.As
	}
	v := m.values(signature, op.N)
	if last {
		if c.number != Root {
			m.rules.returned(m, c, v)
			return
		}
		o := Outcome{Kind: Exited, Who: Root}
		o.set(v)
		m.record(o)
		m.close()
		return
	}
	c.frames = c.frames[:len(c.frames)-1]
	o := Outcome{Kind: Left, Who: c.number}
	if len(v.types) > 0 && v.types[0] == polyfill.I32 {
		o.N = op.N
	}
	m.record(o)
}

func (m *model) resultsOf(c *computation) int8 {
	if _, ok := m.rules.(rulesFibers2); ok {
		if c.gives < 0 {
			return 0
		}
		return Tags[c.gives].Params
	}
	return c.gives
}

// close ends the entry: everything that is left of it ends, in stacks also its suspended computation.
func (m *model) close() {
	for _, c := range m.chain {
		c.end()
	}
	m.chain = nil
	for _, ref := range m.refs {
		if ref.of.number == Root {
			ref.of.end()
		}
	}
}

func (c *computation) end() { c.over, c.piece, c.good = true, nil, nil }

// trap ends the whole live chain (K-9).
func (m *model) trap(t polyfill.Trap) {
	m.record(Outcome{Kind: Trapped, Who: Root, Trap: t})
	m.close()
}

// raise lets an exception out of an operation of the active computation c.
func (m *model) raise(c *computation, op *Op, n int16, back *single) {
	for {
		if op != nil && op.Catch && op.Code != ReturnSwitch && op.Code != ReturnSwitchThrow {
			m.record(Outcome{Kind: Caught, Who: c.number, N: n, Ref: m.number(back) + 1})
			return
		}
		top := len(c.frames) - 1
		if top <= 0 {
			break
		}
		op = c.frames[top].op
		c.frames = c.frames[:top]
	}
	if c.number == Root {
		m.record(Outcome{Kind: Escaped, Who: Root, N: n})
		m.close()
		return
	}
	m.rules.threw(m, c, n)
}

// number hands out a single-use reference.
func (m *model) number(ref *single) int16 {
	if ref == nil {
		return Null
	}
	m.refs = append(m.refs, ref)
	return int16(len(m.refs) - 1)
}

func (m *model) mint(c *computation) *single {
	c.good = &single{c}
	return c.good
}

// pop ends the active computation and returns its parent, which is active now.
func (m *model) pop() *computation {
	m.active().end()
	m.chain = m.chain[:len(m.chain)-1]
	return m.active()
}

func (m *model) detach(i int) (top *computation) {
	top = m.chain[i]
	top.piece = append([]*computation(nil), m.chain[i:]...)
	m.chain = m.chain[:i]
	return top
}

func (m *model) attach(top *computation) {
	m.chain = append(m.chain, top.piece...)
	top.piece, top.good = nil, nil
}

func kill(top *computation) {
	for _, c := range top.piece {
		c.end()
	}
}

func (m *model) position(c *computation) int {
	for i, other := range m.chain {
		if other == c {
			return i
		}
	}
	return -1
}

func (m *model) values(signature int8, n int16) (v values) {
	for _, t := range Signatures[signature] {
		bits := value(t, n)
		if t == polyfill.Ref {
			_, a := m.rules.(rulesFibers1)
			_, b := m.rules.(rulesFibers2)
			if fibers := a || b; fibers && (n < 0 || int(n) >= len(m.all)) || !fibers && n == 0 {
				t, bits = polyfill.NullRef, 0
			}
		}
		v.types, v.bits = append(v.types, t), append(v.bits, bits)
	}
	return v
}

func (o *Outcome) set(v values) {
	o.Len = int8(len(v.types))
	for i := range v.types {
		o.Types |= polyfill.Types(v.types[i]) << (4 * i)
		o.Values[i] = v.bits[i]
	}
}

// takes reports whether values of the types sent may arrive where others are expected.
func takes(expected, sent []polyfill.Type) bool {
	if len(expected) != len(sent) {
		return false
	}
	for i, t := range expected {
		if t != sent[i] && !(t == polyfill.NullRef && sent[i] == polyfill.Ref) {
			return false
		}
	}
	return true
}

func place(list []int8, tag int8) int {
	for i, t := range list {
		if t == tag {
			return i
		}
	}
	return -1
}
