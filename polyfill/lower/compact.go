package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// Most functions, and all of C, keep numbers only, and can be left only at calls. They have compact code: one frame
// layout for all sites of a function, which holds whatever is live at any of them, one place where it is saved, and one
// where it is restored. So a site costs a dozen bytes, and the code that begins with a dispatch is the function itself:
//
//	(func $f (param $n i32) (result i32)
//	  (local $site i32) (local $back i32) …
//	  (block $save (result i32)
//	    (block $site1
//	      (if (local.tee $site (global.get $state)) (then   ;; entered again
//	        … what the frame holds, and in $back what $g has returned
//	        (br $site1)))
//	      (local.set $back (call $g (local.get $n)))
//	      (br_if $save (i32.const 1) (global.get $state))   ;; $g has been left
//	      (drop))
//	    (local.set $site (i32.const 0))
//	    (i32.mul (local.get $n) (local.get $back))
//	    (return))
//	  …)                                                    ;; saves the frame
//
// It is entered with the site's number for a state by a function of its own, which the frame refers to (compactAgain).
// A loop pays for the dispatch each time that it goes round. An interpreter's pays too much: such a function is copied,
// with those that it calls, and the first copy has no dispatch.
// Why: RATIONALE.md, "Why do most functions stay one?".
type compactEmitter struct {
	emitter
	fields  []slot   // what a frame holds
	results []slot   // for each type that a site returns the local for it
	frame   uint32   // local: the frame that may be used again
	site    uint32   // local: the site that the function is entered at, 0 once it is there
	shape   int      // the layout of frames
	entered bool     // the dispatch of the function has been written
	saving  int      // depth of the block that ends where the frame is saved
	points  []int    // as those of a coldEmitter
	targets []target // of the dispatches under way
}

// A slot is a local that a frame holds.
type slot struct {
	local uint32
	t     valType
}

// A target is where a dispatch goes for some sites: the end of a block.
type target struct {
	first, last int32
	depth       int
}

// compact writes a function, or returns false if it cannot be compact. The locals that live are known.
func (l *lowering) compact(f uint32, s *source) ([]byte, bool) {
	c := &l.compactCode
	c.reset(l, s)
	c.first = uint32(len(s.locals))
	if !c.plan() {
		return nil, false
	}
	again := l.reserve(typeReenter)
	l.made[len(l.made)-1].of = f + 1
	if !l.twice[f] {
		l.complete(again, l.compactAgain(f, l.fun(f)))
		return c.whole(again), true
	}
	copied := l.reserve(l.typ(l.m.Funcs[f].Decl))
	l.made[len(l.made)-1].of = f + 1
	l.complete(again, l.compactAgain(f, copied))
	l.complete(copied, c.whole(again))
	c.restart()
	return c.clean(again), true
}

// manyCases is how many cases a switch has that interprets a language, and shortCallee how long, in bytes, what it
// calls may be to be copied, too: there, the dispatch at the entry is a good part of the work.
const (
	manyCases   = 64
	shortCallee = 2000
)

// interpreters finds which functions are copied if they are compact: loops around a large br_table, and what those
// call.
func (l *lowering) interpreters() {
	l.twice = make([]bool, len(l.m.Funcs))
	for _, f := range l.switches {
		if !l.may.funcs[f] {
			continue
		}
		s := l.read(f)
		if !s.interprets() {
			continue
		}
		l.twice[f] = true
		for _, at := range s.sites {
			if in := &s.ins[at]; in.op == wasm.OpCall {
				body := l.m.Funcs[in.x].Body
				l.twice[in.x] = l.twice[in.x] || body.End-body.Start <= shortCallee
			}
		}
	}
}

// interprets reports whether the function has a large br_table in a loop that has sites.
func (s *source) interprets() bool {
	for i := range s.ins {
		if s.ins[i].op != wasm.OpBrTable || s.ins[i].labels.n < manyCases {
			continue
		}
		for at := s.ins[i].parent; at >= 0; at = s.ins[at].parent {
			if in := &s.ins[at]; in.op == wasm.OpLoop && s.has(in) {
				return true
			}
		}
	}
	return false
}

func (c *compactEmitter) reset(l *lowering, s *source) {
	c.emitter.reset(l, s)
	c.fields, c.results, c.points, c.targets = c.fields[:0], c.results[:0], c.points[:0], c.targets[:0]
	c.entered = false
}

// restart makes room for another function with the same locals.
func (c *compactEmitter) restart() {
	e := &c.emitter
	e.B, e.open, e.within, e.below, e.depth = e.B[:0], append(e.open[:0], 0), append(e.within[:0], -1), e.below[:0], 0
}

// plan finds what frames hold, and marks the instructions whose results go to locals since they lie below a site, or
// below a construct with sites. It returns false for what compact code has no room for.
func (c *compactEmitter) plan() bool {
	e, s, l := &c.emitter, c.s, c.l
	for _, t := range s.locals {
		if !t.Defaultable() {
			return false
		}
	}
	c.site = e.local(validate.I32)
	for i := range s.ins {
		in := &s.ins[i]
		switch {
		case in.site > 0:
			results := []valType(nil)
			switch in.op {
			case wasm.OpCall, wasm.OpCallIndirect, wasm.OpCallRef:
				results = e.results(in)
			default:
				return false
			}
			if in.caught || l.waiting(in.op, in.x) >= 0 || len(results) > 1 || len(results) == 1 && results[0].IsRef() {
				return false
			}
			if len(results) == 1 {
				c.back(results[0])
			}
		case isConstruct(in.op) && s.has(in):
			s.lastOpened, _ = s.within(in)
			if in.params.n > 0 {
				return false
			}
			if in.op == wasm.OpIf {
				c.back(validate.I32)
			}
		default:
			continue
		}
		for j, t := range s.own(in) {
			origin := &s.ins[s.origins[in.origins+int32(j)]]
			if t.IsRef() || origin.pushes != 1 || isConstruct(origin.op) || origin.op == wasm.OpElse {
				return false
			}
			origin.kept, origin.keptType = in.height+int32(j)+1, t
			e.temp(useOperand, int(in.height)+j, t)
		}
	}
	for _, t := range [...]valType{validate.I32, validate.I64, validate.F32, validate.F64, validate.V128} {
		for i, own := range s.locals {
			if own == t && s.livesAnywhere(i) {
				c.fields = append(c.fields, slot{uint32(i), t})
			}
		}
		for _, p := range e.temps {
			if p.use == useOperand && e.locals[p.local-e.first] == t {
				c.fields = append(c.fields, slot{p.local, t})
			}
		}
	}
	for i, t := range s.locals {
		if t.IsRef() && s.livesAnywhere(i) {
			return false
		}
	}
	types := c.emitter.fields[:0]
	for _, f := range c.fields {
		types = append(types, f.t)
	}
	c.emitter.fields = types
	c.shape = l.layout(types)
	c.frame = e.local(validate.RefNull(l.layouts[c.shape].heap))
	return true
}

// livesAnywhere reports whether a local may be read behind some site.
func (s *source) livesAnywhere(local int) bool {
	for _, live := range s.live {
		if live[local/32]&(1<<(local%32)) != 0 {
			return true
		}
	}
	return false
}

// back returns the local for what a site returns, or for the condition of an if.
func (c *compactEmitter) back(t valType) uint32 {
	for _, r := range c.results {
		if r.t == t {
			return r.local
		}
	}
	local := c.emitter.local(t)
	c.results = append(c.results, slot{local, t})
	return local
}

// whole writes the code that can be entered at any site.
func (c *compactEmitter) whole(again uint32) []byte {
	e, s := &c.emitter, c.s
	c.begin()
	c.sequence(0, len(s.ins)-1, 0)
	c.save(again)
	return e.function(s.locals[s.params:])
}

// clean writes the code that can only be entered at its beginning.
func (c *compactEmitter) clean(again uint32) []byte {
	e, s := &c.emitter, c.s
	c.begin()
	for i := 0; i < len(s.ins)-1; i++ {
		in := &s.ins[i]
		switch {
		case isConstruct(in.op):
			c.open(in, i)
			continue
		case in.op == wasm.OpElse:
			e.Byte(wasm.OpElse)
		case in.op == wasm.OpEnd:
			e.finish()
		default:
			e.copy(in.op, int(in.at), int(in.end))
		}
		if in.site > 0 {
			c.check(in)
		}
		if in.kept > 0 {
			e.Op(wasm.OpLocalTee, e.temp(useOperand, int(in.kept-1), in.keptType))
		}
	}
	c.save(again)
	return e.function(s.locals[s.params:])
}

func (c *compactEmitter) begin() {
	c.Raw("\x02\x7f") // block (result i32): the site
	c.depth++
	c.saving = c.depth
}

// open opens a construct of the source.
func (c *compactEmitter) open(in *ins, i int) {
	c.below = append(c.below, len(c.outer))
	c.copy(in.op, int(in.at), int(in.end))
	c.enter(i)
}

// check leaves the function if what it has called has been left.
func (c *compactEmitter) check(in *ins) {
	c.i32(uint32(in.site))
	c.global(c.l.hidden(globalState))
	c.Op(wasm.OpBrIf, uint32(c.depth-c.saving))
	c.Byte(wasm.OpDrop)
}

// save writes the end of the function: where a site goes that is left.
func (c *compactEmitter) save(again uint32) {
	e := &c.emitter
	e.Byte(wasm.OpReturn)
	e.end()
	e.set(c.site)
	for _, f := range c.fields {
		e.get(f.local)
	}
	e.get(c.site)
	e.i32(2)
	e.Byte(wasm.OpI32Shl)
	e.Op(wasm.OpRefFunc, again)
	e.get(c.frame)
	e.call(c.l.resaver(c.shape, false))
	e.dummies(c.s.results)
}

// sequence writes the instructions from i up to, not including, end, all in one block, which can be entered at the
// points among them. The dispatch of the blocks around may be left to it: that is what the targets from there on are.
func (c *compactEmitter) sequence(i, end, outside int) {
	e, s := &c.emitter, c.s
	base := len(c.points)
	for k := i; k < end; k++ {
		in := &s.ins[k]
		if first, last := s.span(in); first <= last {
			c.points = append(c.points, k)
		}
		if isConstruct(in.op) {
			k = s.end(k)
		}
	}
	points := c.points[base:]
	// A construct that the block begins with needs no jump; and if it is a block, its dispatch will do for this one.
	begins := len(points) > 0 && points[0] == i && isConstruct(s.ins[i].op)
	for k := len(points) - 1; k >= 0; k-- {
		if k == 0 && begins {
			break
		}
		e.block()
		first, last := s.span(&s.ins[points[k]])
		c.targets = append(c.targets, target{first, last, e.depth})
	}
	if !begins || s.ins[i].op != wasm.OpBlock {
		c.dispatch(c.targets[outside:], begins)
		c.targets = c.targets[:outside]
	}
	for k, p := range points {
		in := &s.ins[p]
		inside := len(c.targets)
		if k == 0 && begins {
			inside = outside
		} else {
			c.linear(i, p)
			if in.op == wasm.OpIf {
				e.set(c.back(validate.I32))
			}
			if in.site > 0 {
				c.perform(in)
			}
			e.end()
		}
		later := 0 // operands that stay where they are until the next point
		if k+1 < len(points) {
			later = s.common(in, &s.ins[points[k+1]])
		}
		if in.site > 0 {
			c.entry(in, later)
			i = p + 1
			continue
		}
		c.construct(in, p, later, inside)
		i = s.end(p) + 1
	}
	c.linear(i, end)
	c.points = c.points[:base]
}

// common returns how many operands lie below both points.
func (s *source) common(a, b *ins) int {
	n := 0
	x, y := s.own(a), s.own(b)
	for n < len(x) && n < len(y) && s.origins[a.origins+int32(n)] == s.origins[b.origins+int32(n)] {
		n++
	}
	return n
}

// dispatch goes to a target if the function is being entered again. through says that some sites lie straight ahead,
// all before those of the targets.
func (c *compactEmitter) dispatch(targets []target, through bool) {
	e, l := &c.emitter, c.l
	top := !c.entered
	c.entered = true
	if top {
		e.global(l.hidden(globalState))
		e.Op(wasm.OpLocalTee, c.site)
		e.iff()
		e.call(l.loader(c.shape))
		e.set(c.frame)
		for k := len(c.fields) - 1; k >= 0; k-- {
			e.set(c.fields[k].local)
		}
		for _, r := range c.results {
			e.global(l.assign([]valType{r.t})[0])
			e.set(r.local)
		}
	}
	switch {
	case len(targets) == 0:
	case len(targets) == 1 && top && !through:
		e.Op(wasm.OpBr, uint32(e.depth-targets[0].depth))
	case len(targets) == 1 && !through:
		e.get(c.site)
		e.Op(wasm.OpBrIf, uint32(e.depth-targets[0].depth))
	case len(targets) == 1:
		e.get(c.site)
		e.i32(uint32(targets[0].first))
		e.Byte(0x4f) // i32.ge_u
		e.Op(wasm.OpBrIf, uint32(e.depth-targets[0].depth))
	default:
		c.table(targets)
	}
	if top {
		e.end()
	}
}

// table writes a dispatch with several targets, of which the last comes first.
func (c *compactEmitter) table(targets []target) {
	e := &c.emitter
	lowest, highest := targets[len(targets)-1].first, targets[0].last
	for _, t := range targets {
		lowest, highest = min(lowest, t.first), max(highest, t.last)
	}
	to := make([]uint32, highest-lowest+1)
	e.block()
	for _, t := range targets {
		for k := t.first; k <= t.last; k++ {
			to[k-lowest] = uint32(e.depth - t.depth)
		}
	}
	e.get(c.site)
	e.i32(uint32(lowest))
	e.Byte(wasm.OpI32Sub)
	e.Op(wasm.OpBrTable, uint32(len(to)))
	for _, label := range to {
		e.U32(label)
	}
	e.U32(0)
	e.end()
}

// linear writes instructions with no point among them.
func (c *compactEmitter) linear(i, end int) {
	e, s := &c.emitter, c.s
	for ; i < end; i++ {
		in := &s.ins[i]
		switch {
		case isConstruct(in.op):
			c.open(in, i)
			continue
		case in.op == wasm.OpElse:
			e.Byte(wasm.OpElse)
		case in.op == wasm.OpEnd:
			e.finish()
		default:
			e.copy(in.op, int(in.at), int(in.end))
		}
		c.keep(in)
	}
}

// keep puts what an instruction leaves into a local, if it will lie below a point.
func (c *compactEmitter) keep(in *ins) {
	if in.kept > 0 {
		c.set(c.temp(useOperand, int(in.kept-1), in.keptType))
	}
}

// perform writes the call of a site; entry is where the function goes on.
func (c *compactEmitter) perform(in *ins) {
	c.copy(in.op, int(in.at), int(in.end))
	if results := c.emitter.results(in); len(results) > 0 {
		c.set(c.back(results[0]))
	}
	c.check(in)
}

func (c *compactEmitter) entry(in *ins, later int) {
	e := &c.emitter
	if c.s.again(in) {
		e.i32(0)
		e.set(c.site)
	}
	e.reload(useOperand, int(in.height)+later, c.s.own(in)[later:])
	if results := e.results(in); len(results) > 0 {
		e.get(c.back(results[0]))
	}
	c.keep(in)
}

// again reports whether a dispatch may follow behind a site, which must not go there a second time.
func (s *source) again(in *ins) bool {
	if in.site < s.lastOpened {
		return true
	}
	for at := in.parent; at >= 0; at = s.ins[at].parent {
		if s.ins[at].op == wasm.OpLoop {
			return true
		}
	}
	return false
}

// construct writes a construct with sites inside, which the targets from inside on are left to.
func (c *compactEmitter) construct(in *ins, p, later, inside int) {
	e, s := &c.emitter, c.s
	e.reload(useOperand, int(in.height)+later, s.own(in)[later:])
	if in.op == wasm.OpIf {
		c.condition(in)
	}
	c.open(in, p)
	c.sequence(p+1, int(in.to), inside)
	if rest := &s.ins[in.to]; in.op == wasm.OpIf && rest.op == wasm.OpElse {
		e.Byte(wasm.OpElse)
		c.sequence(int(in.to)+1, int(rest.to), len(c.targets))
	}
	e.finish()
	c.keep(&s.ins[s.end(p)])
}

// condition pushes that of an if with sites: into the part that has the one that the function is entered at.
func (c *compactEmitter) condition(in *ins) {
	e, s := &c.emitter, c.s
	rest := &s.ins[in.to]
	given := c.back(validate.I32)
	switch {
	case rest.op != wasm.OpElse || rest.first > rest.last:
		e.get(given)
		e.get(c.site)
		e.Byte(wasm.OpI32Or)
		return
	case in.first > in.last:
		e.i32(0)
	default:
		e.get(c.site)
		e.i32(uint32(in.last))
		e.Byte(0x4d) // i32.le_u
	}
	e.get(given)
	e.get(c.site)
	e.Byte(wasm.OpSelect)
}

// loader returns the function that gives back what the frame in the driver's global holds, its fields and itself, to a
// function that is being entered again.
func (l *lowering) loader(n int) uint32 {
	if f := l.layouts[n].load; f != 0 {
		return f
	}
	own := validate.RefNull(l.layouts[n].heap)
	fields := l.layouts[n].fields
	f := l.reserve(l.funcType(nil, append(append([]valType(nil), fields...), own)))
	l.layouts[n].load = f
	e := l.helper(0)
	frame := e.local(own)
	e.global(l.hidden(globalLast))
	e.Raw("\xfb\x16") // ref.cast
	e.S32(l.layouts[n].index)
	e.set(frame)
	e.Raw("\xd0\x71") // ref.null none
	e.Op(wasm.OpGlobalSet, l.hidden(globalLast))
	e.i32(0)
	e.Op(wasm.OpGlobalSet, l.hidden(globalState))
	for i := range fields {
		e.get(frame)
		e.structGet(l.layouts[n].index, uint32(i)+3)
	}
	e.get(frame)
	l.complete(f, e.function(nil))
	return f
}

// compactAgain returns the body of the function that enters one with compact code, which is a function of its own or
// the same as the guest's. The site goes by the state, and the frame where the last one is.
func (l *lowering) compactAgain(of, f uint32) []byte {
	e := l.helper(1)
	e.get(0)
	e.call(l.enterFrame())
	e.dummies(l.m.Params(of))
	e.call(f)
	e.call(l.results(l.m.Results(of)))
	return e.function(nil)
}

func (l *lowering) enterFrame() uint32 {
	if l.entering == 0 {
		l.entering = l.reserve(typeReenter)
		e := l.helper(1)
		e.get(0)
		e.structGet(typeFrame, 2)
		e.i32(2)
		e.Byte(wasm.OpI32ShrU)
		e.Op(wasm.OpGlobalSet, l.hidden(globalState))
		e.get(0)
		e.Op(wasm.OpGlobalSet, l.hidden(globalLast))
		l.complete(l.entering, e.function(nil))
	}
	return l.entering
}

// results returns the function that moves its parameters into registers, unless frames are being saved.
func (l *lowering) results(list []valType) uint32 {
	typ := l.funcType(list, nil)
	if f, ok := l.resultsOf[typ]; ok {
		return f
	}
	if l.resultsOf == nil {
		l.resultsOf = map[uint32]uint32{}
	}
	f := l.reserve(typ)
	l.resultsOf[typ] = f
	e := l.helper(len(list))
	e.global(l.hidden(globalState))
	e.iff()
	e.Byte(wasm.OpReturn)
	e.end()
	for i := range list {
		e.get(uint32(i))
	}
	e.toRegisters(list)
	l.complete(f, e.function(nil))
	return f
}
