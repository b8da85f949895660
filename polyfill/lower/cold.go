package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

type valType = validate.Type

// Locals of a cold function: its parameter, the guest's locals, which site it is entered at, and the emitter's.
const coldFrame = 0

// A coldEmitter writes a function's second copy, which is entered with a frame and goes on where that frame was saved:
// blocks around the code before a site, and a br_table, let it jump into nested constructs. Operands that lie on the
// stack at such a place are in temps.
type coldEmitter struct {
	emitter
	site  uint32   // local: the site it is entered at, 0 once it is there
	kept  []kept   // for each layout: the frame that may be used again
	ways  []*ins   // sites with different code that restores what they keep
	way   []uint32 // for each site which of these
	tails []*ins   // tail calls out of a try_table
	ends  []int    // depth of the block that ends where such a tail call goes
	// Instructions that are sites or have sites inside, of the sequences under way.
	points []int
}

// A kept is the local with a frame that has been read.
type kept struct {
	layout int
	local  uint32
}

// cold writes the function as it is entered again.
func (l *lowering) cold(s *source, self uint32) []byte {
	c := &l.coldCode
	e := c.emitter.reset(l, s)
	c.kept, c.tails, c.ends, c.points = c.kept[:0], c.tails[:0], c.ends[:0], c.points[:0]
	e.self, e.cold = self, true
	e.first = uint32(len(s.locals) + 1)
	e.mine = c.mine
	c.site = e.local(validate.I32)
	for i := range s.ins {
		if in := &s.ins[i]; isTailCall(in.op) && in.caught {
			c.tails = append(c.tails, in)
		}
	}

	e.get(coldFrame)
	e.structGet(typeFrame, 2)
	e.i32(2)
	e.Byte(0x76) // i32.shr_u
	e.set(c.site)
	c.restore()

	for range c.tails {
		e.block()
		c.ends = append(c.ends, e.depth)
	}
	e.Byte(wasm.OpBlock)
	l.blockType(&e.Writer, nil, s.results)
	e.depth++
	e.open[0] = e.depth
	c.sequence(0, len(s.ins)-1, func() {})
	e.end()
	e.toRegisters(s.results)
	e.Byte(wasm.OpReturn)
	for i := len(c.tails) - 1; i >= 0; i-- {
		in := c.tails[i]
		e.end()
		e.reload(useOperand, int(in.height), s.list(in.stack))
		c.tailCall(in)
		e.toRegisters(l.tailResults(in))
		e.Byte(wasm.OpReturn)
	}
	for i, t := range s.locals {
		s.locals[i] = orNull(t) // they are not needed any more
	}
	return e.function(s.locals)
}

// mine returns the local with the frame of this layout that was read, if one was.
func (c *coldEmitter) mine(n int) uint32 {
	for _, k := range c.kept {
		if k.layout == n {
			return k.local
		}
	}
	local := c.local(validate.RefNull(c.l.layouts[n].heap))
	c.kept = append(c.kept, kept{n, local})
	return local
}

// restore writes the frame's fields into locals and temps, by the site that it was saved at. Sites that keep the same
// have the same code.
func (c *coldEmitter) restore() {
	e, s := &c.emitter, c.s
	c.ways, c.way = c.ways[:0], c.way[:0]
	for _, at := range s.sites {
		in := &s.ins[at]
		k := max(0, len(c.ways)-8) // most keep the same as one of the last
		for k < len(c.ways) && !s.keepSame(in, c.ways[k]) {
			k++
		}
		if k == len(c.ways) {
			c.ways = append(c.ways, in)
		}
		c.way = append(c.way, uint32(k))
	}
	e.block()
	outside := e.depth
	for range c.ways {
		e.block()
	}
	e.get(c.site)
	e.i32(1)
	e.Byte(wasm.OpI32Sub)
	e.Op(wasm.OpBrTable, uint32(len(c.way)-1))
	for _, k := range c.way {
		e.U32(k)
	}
	for _, in := range c.ways {
		e.end()
		c.restoreSite(in)
		e.Op(wasm.OpBr, uint32(e.depth-outside))
	}
	e.end()
}

// keepSame reports whether the frames of two sites hold the same. Of those with operands of different blocks around, it
// does not look.
func (s *source) keepSame(a, b *ins) bool {
	own := s.own(b)
	if a.height != b.height || a.height > 0 && a.parent != b.parent || len(s.own(a)) != len(own) {
		return false
	}
	for i, t := range s.own(a) {
		if own[i] != t {
			return false
		}
	}
	for i, word := range s.live[a.site-1] {
		if word != s.live[b.site-1][i] {
			return false
		}
	}
	return true
}

func (c *coldEmitter) restoreSite(in *ins) {
	e, s := &c.emitter, c.s
	n := e.layout(in, s.own(in), s.around(in))
	t := c.l.layouts[n].index
	mine := c.mine(n)
	e.get(coldFrame)
	e.Raw("\xfb\x16") // ref.cast
	e.S32(t)
	e.set(mine)
	field := uint32(3)
	put := func(v valType, local uint32) {
		e.get(mine)
		e.structGet(t, field)
		e.set(local)
		if v.IsRef() {
			e.get(mine)
			e.null(v)
			e.structSet(t, field)
		}
		field++
	}
	for i, v := range s.own(in) {
		put(v, e.temp(useOperand, int(in.height)+i, v))
	}
	for _, o := range s.around(in) {
		put(o.t, e.temp(useOperand, o.height, o.t))
	}
	for i, v := range s.locals {
		if s.lives(in, i) {
			put(v, e.variable(uint32(i)))
		}
	}
}

// around returns the operands of the blocks around a site, outermost first. They are hidden while the site is written.
func (s *source) around(in *ins) []operand {
	if in.parent < 0 {
		return nil
	}
	o := &s.ins[in.parent]
	list := s.around(o)
	for k, t := range s.own(o) {
		list = append(list, operand{int(o.height) + k, t})
	}
	return list
}

// span returns the sites of an instruction: the instruction itself, or the sites inside of it.
func (s *source) span(in *ins) (first, last int32) {
	if in.site > 0 {
		return in.site, in.site
	}
	if isConstruct(in.op) {
		return s.within(in)
	}
	return 1, 0
}

// points appends the instructions from i up to, not including, end that are sites or have sites inside.
func (s *source) points(list []int, i, end int) []int {
	for k := i; k < end; k++ {
		in := &s.ins[k]
		if first, last := s.span(in); first <= last {
			list = append(list, k)
		}
		if isConstruct(in.op) {
			k = s.end(k)
		}
	}
	return list
}

// sequence writes the instructions from i up to, not including, end, all in one block. start reloads the operands with
// which the block has been entered.
func (c *coldEmitter) sequence(i, end int, start func()) {
	e, s := &c.emitter, c.s
	base := len(c.points)
	defer func() { c.points = c.points[:base] }()
	c.points = s.points(c.points, i, end)
	points := c.points[base:]
	if len(points) == 0 {
		start()
		c.linear(i, end)
		return
	}
	for range points {
		e.block()
	}
	if len(points) == 1 {
		e.get(c.site)
		e.Op(wasm.OpBrIf, 0)
	} else {
		e.block()
		lowest, _ := s.span(&s.ins[points[0]])
		_, highest := s.span(&s.ins[points[len(points)-1]])
		e.get(c.site)
		e.i32(uint32(lowest))
		e.Byte(wasm.OpI32Sub)
		e.Op(wasm.OpBrTable, uint32(highest-lowest+1))
		for k, p := range points {
			first, last := s.span(&s.ins[p])
			for ; first <= last; first++ {
				e.U32(uint32(k + 1))
			}
		}
		e.U32(0)
		e.end()
	}
	start()
	for _, p := range points {
		c.linear(i, p)
		in := &s.ins[p]
		e.spill(useOperand, int(in.height), s.list(in.stack))
		e.end()
		if in.site > 0 {
			c.coldSite(in)
			i = p + 1
		} else {
			c.construct(in, p)
			i = s.end(p) + 1
		}
	}
	c.linear(i, end)
}

// linear writes instructions with no site among them.
func (c *coldEmitter) linear(i, end int) {
	e, s := &c.emitter, c.s
	for ; i < end; i++ {
		in := &s.ins[i]
		switch {
		case isConstruct(in.op):
			e.below = append(e.below, len(e.outer))
			e.copy(in.op, int(in.at), int(in.end))
			e.enter(i)
		case in.op == wasm.OpElse:
			e.Byte(wasm.OpElse)
		case in.op == wasm.OpEnd:
			e.finish()
		case in.op == wasm.OpReturn:
			e.Op(wasm.OpBr, uint32(e.depth-e.open[0]))
		case isTailCall(in.op):
			c.tail(in)
		default:
			e.copy(in.op, int(in.at), int(in.end))
			if c.widens(in) {
				e.spill(useBranch, 0, s.list(in.results))
				e.reload(useBranch, 0, s.list(in.results))
			}
		}
	}
}

// widens reports whether an instruction leaves references on the stack to which the engine allows null from then on,
// although the source does not: a branch that may go on, to a loop whose parameters may be null here.
func (c *coldEmitter) widens(in *ins) bool {
	if isConstruct(in.op) || in.results.n == 0 {
		return false
	}
	to := c.within[len(c.within)-1-int(in.x)]
	if to < 0 || c.s.ins[to].op != wasm.OpLoop || !c.s.has(&c.s.ins[to]) {
		return false
	}
	for _, t := range c.s.list(in.results) {
		if !t.Defaultable() {
			return true
		}
	}
	return false
}

// construct writes a construct with sites inside; its operands are in temps.
func (c *coldEmitter) construct(in *ins, i int) {
	e, s := &c.emitter, c.s
	own, params := s.own(in), s.list(in.params)
	e.reload(useOperand, int(in.height), own)
	e.below = append(e.below, len(e.outer))
	base := int(in.height) + len(own) // of the parameters
	for k, t := range s.taken(in)[:len(params)] {
		// Operands may have subtypes of the parameters' types. Code that goes on inside has no operands: null will do,
		// and nothing reads it.
		e.get(e.temp(useOperand, base+k, t))
	}
	if in.op == wasm.OpIf {
		// Goes to the part that has the site, or to the part that the condition selects.
		e.get(c.site)
		e.i32(uint32(in.last))
		e.Byte(0x4d) // i32.le_u
		e.get(e.temp(useOperand, base+len(params), validate.I32))
		e.get(c.site)
		e.Byte(wasm.OpSelect)
	}
	e.hide(in, own)
	e.Byte(byte(in.op))
	e.l.blockType(&e.Writer, allOrNull(params), s.list(in.results))
	if in.op == wasm.OpTryTable {
		r := wasm.Reader{Bin: e.l.m.Bin, Pos: int(in.at) + 1, End: int(in.end)}
		r.ValType()
		e.catches(&r)
	}
	e.enter(i)
	reload := func() { e.reload(useParam, base, params) }
	e.spill(useParam, base, allOrNull(params))
	c.sequence(i+1, int(in.to), reload)
	if in.op == wasm.OpIf {
		rest := &s.ins[in.to]
		switch {
		case rest.op == wasm.OpElse:
			e.Byte(wasm.OpElse)
			e.spill(useParam, base, allOrNull(params))
			c.sequence(int(in.to)+1, int(rest.to), reload)
		case len(params) > 0:
			e.Byte(wasm.OpElse)
			e.spill(useParam, base, allOrNull(params))
			reload()
		}
	}
	e.finish()
}

// coldSite writes a site; its operands are in temps.
func (c *coldEmitter) coldSite(in *ins) {
	e, s, l := &c.emitter, c.s, c.l
	if k := l.waiting(in.op, in.x); k >= 0 {
		c.coldWait(k, in)
		return
	}
	own, taken := s.own(in), s.taken(in)
	results := e.results(in)
	inRegisters := leaves(in.op) || isResume(in.op)
	e.reload(useOperand, int(in.height), own)
	if !inRegisters {
		e.Byte(wasm.OpBlock)
		l.blockType(&e.Writer, nil, results)
		e.depth++
	}
	done := e.depth
	e.block()
	e.get(c.site)
	e.Op(wasm.OpBrIf, 0)
	e.reload(useOperand, int(in.height)+len(own), taken)
	e.perform(in)
	if leaves(in.op) {
		e.left(in, own, true)
	} else {
		e.global(l.hidden(globalState))
		e.iff()
		e.left(in, own, false)
		e.end()
		if !inRegisters {
			e.Op(wasm.OpBr, uint32(e.depth-done))
		}
	}
	e.end()
	if isResume(in.op) {
		e.get(c.site)
		e.iff()
		e.realmGet(realmCaptured)
		e.set(e.taken())
		e.realm()
		e.Raw("\xd0\x71") // ref.null none
		e.structSet(typeRealm, realmCaptured)
		e.end()
	}
	e.Raw("\x41\x00") // i32.const 0
	e.set(c.site)
	c.thrown(in)
	if isResume(in.op) {
		e.answer(in)
	}
	e.fromRegisters(results)
	if !inRegisters {
		e.end()
	}
}

// thrown throws the exception with which the function was entered, if the site lies in a try_table.
func (c *coldEmitter) thrown(in *ins) {
	if !in.caught {
		return
	}
	e, exn := &c.emitter, c.l.hidden(globalExn)
	e.global(exn)
	e.Byte(wasm.OpRefIsNull)
	e.Byte(wasm.OpI32Eqz)
	e.iff()
	e.global(exn)
	e.Raw("\xd0\x74") // ref.null noexn
	e.Op(wasm.OpGlobalSet, exn)
	e.Byte(wasm.OpThrowRef)
	e.end()
}

// tail writes a tail call, whose results go to registers here. It must not happen inside of a try_table.
func (c *coldEmitter) tail(in *ins) {
	e := &c.emitter
	for i, t := range c.tails {
		if t == in {
			e.spill(useOperand, int(in.height), c.s.list(in.stack))
			e.Op(wasm.OpBr, uint32(e.depth-c.ends[i]))
			return
		}
	}
	c.tailCall(in)
	e.Op(wasm.OpBr, uint32(e.depth-e.open[0]))
}

// tailCall calls, and returns at once if the called function is left: nothing of this function has to be saved.
func (c *coldEmitter) tailCall(in *ins) {
	e := &c.emitter
	at := len(e.B)
	e.copy(in.op, int(in.at), int(in.end))
	switch in.op {
	case wasm.OpReturnCall:
		e.B[at] = wasm.OpCall
	case wasm.OpReturnCallIndirect:
		e.B[at] = wasm.OpCallIndirect
	case wasm.OpReturnCallRef:
		e.B[at] = wasm.OpCallRef
	}
	e.global(c.l.hidden(globalState))
	e.iff()
	e.Byte(wasm.OpReturn)
	e.end()
}

func (l *lowering) tailResults(in *ins) []valType {
	if in.op == wasm.OpReturnCall {
		return l.m.Results(in.x)
	}
	return l.t.Results(l.m.TypeIDs[in.x])
}

func isResume(op uint32) bool {
	return op == wasm.OpResume || op == wasm.OpResumeThrow || op == wasm.OpResumeThrowRef
}
