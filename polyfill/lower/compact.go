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
// The frame refers to a separate function that enters it, with the site's number as the state (compactAgain). A loop
// pays for the dispatch each time that it goes round. An interpreter's loop would pay too much: such a function is
// copied, with the functions that it calls, and the first copy has no dispatch.
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
		l.complete(again, l.compactAgain(f, l.code(f)))
		return c.whole(again), true
	}
	copied := l.reserve(l.typ(l.m.Funcs[f].Decl))
	l.made[len(l.made)-1].of = f + 1
	l.complete(again, l.compactAgain(f, copied))
	l.complete(copied, c.whole(again))
	c.restart()
	return c.clean(again), true
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

// plan finds what frames hold, and marks the instructions whose results go to locals because they lie below a site, or
// below a construct with sites. It returns false for a function that compact code cannot express.
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
	if len(c.fields) > mostValues {
		return false // those of one site may be fewer
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

// livesAnywhere reports whether a local may be read after some site.
func (s *source) livesAnywhere(local int) bool {
	for _, live := range s.live {
		if live[local/32]&(1<<(local%32)) != 0 {
			return true
		}
	}
	return false
}

// back returns the local for the result of a site, or for the condition of an if.
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
		if c.plain(in, i) {
			continue
		}
		if in.site > 0 {
			c.check(in)
		}
		if in.kept > 0 { // and it stays on the stack, too
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

// check leaves the function if the function that it has called has been left.
func (c *compactEmitter) check(in *ins) {
	c.i32(uint32(in.site))
	c.global(c.l.hidden(globalState))
	c.Op(wasm.OpBrIf, uint32(c.depth-c.saving))
	c.Byte(wasm.OpDrop)
}

// save writes the end of the function, to which a site branches if it is left.
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

// loader returns the function that gives back what the frame that is entered holds, its fields and itself. The driver
// has noted that frame in the current stack.
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
	e.realmGet(realmCurrent)
	e.structGet(typeStack, stackLeaf)
	e.Raw("\xfb\x16") // ref.cast
	e.S32(l.layouts[n].index)
	e.set(frame)
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

// compactAgain returns the body of the function that enters a function with compact code, which is a separate copy or
// the guest's function itself. The site's number is passed in the state.
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
