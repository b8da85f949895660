package lower

import "github.com/fiberfill/fiberfill/internal/wasm"

// hot writes the function as it is called: the guest's own code, with a check of the state after each call that may
// have been left.
func (l *lowering) hot(f uint32, s *source, cold uint32) []byte {
	e := l.hotCode.reset(l, s)
	e.self, e.first = cold, uint32(len(s.locals))
	for i := 0; i < len(s.ins)-1; i++ {
		in := &s.ins[i]
		switch {
		case isConstruct(in.op):
			e.begin(in, i)
		case in.op == wasm.OpElse:
			e.Byte(wasm.OpElse)
		case in.op == wasm.OpEnd:
			e.finish()
		case in.site > 0:
			e.hotSite(in)
			if leaves(in.op) {
				i = s.rest(i) - 1 // never reached
			}
		default:
			e.copy(in.op, int(in.at), int(in.end))
		}
	}
	return e.function(s.locals[s.params:])
}

// rest returns the index of the else or end that ends the code behind i in its block.
func (s *source) rest(i int) int {
	for i++; ; i++ {
		switch {
		case isConstruct(s.ins[i].op):
			i = s.end(i)
		case s.ins[i].op == wasm.OpElse || s.ins[i].op == wasm.OpEnd:
			return i
		}
	}
}

// begin opens a construct. If the function may be left inside the construct, the operands below go to temps, too.
func (e *emitter) begin(in *ins, i int) {
	own := e.s.own(in)
	e.below = append(e.below, len(e.outer))
	if e.s.has(in) && len(own) > 0 {
		all := e.s.list(in.stack)
		e.spill(useOperand, int(in.height), all)
		e.reload(useOperand, int(in.height), all)
		e.hide(in, own)
	}
	e.copy(in.op, int(in.at), int(in.end))
	e.enter(i)
}

// hide notes operands that cannot be reached inside of the construct that follows.
func (e *emitter) hide(in *ins, own []valType) {
	for k, t := range own {
		e.outer = append(e.outer, operand{int(in.height) + k, t})
	}
}

// enter notes that a construct of the source has been opened, finish closes it.
func (e *emitter) enter(i int) {
	e.depth++
	e.open = append(e.open, e.depth)
	e.within = append(e.within, i)
}

func (e *emitter) finish() {
	e.end()
	e.open = e.open[:len(e.open)-1]
	e.within = e.within[:len(e.within)-1]
	e.outer = e.outer[:e.below[len(e.below)-1]]
	e.below = e.below[:len(e.below)-1]
}

// hotSite writes a site.
func (e *emitter) hotSite(in *ins) {
	if k := e.l.waiting(in.op, in.x); k >= 0 {
		e.hotWait(k, in)
		return
	}
	own := e.s.own(in)
	e.perform(in)
	if leaves(in.op) {
		e.left(in, own, true)
		return
	}
	var results []valType // that are on the stack
	if !isResume(in.op) {
		results = e.results(in)
	}
	e.global(e.l.hidden(globalState))
	if len(own) == 0 {
		e.iff()
	} else {
		// Operands below can be reached only if they are parameters of the block.
		all := append(append([]valType(nil), own...), results...)
		e.Byte(wasm.OpIf)
		e.l.blockType(&e.Writer, all, all)
		e.depth++
		for range results {
			e.Byte(wasm.OpDrop)
		}
	}
	e.left(in, own, false)
	e.end()
	if isResume(in.op) {
		e.answer(in)
		e.fromRegisters(e.results(in))
	}
}
