package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// The second front end: imports that wait. Of a call of import i, of type T, becomes
//
//	(call $cannotWait)                          ;; 1: no stack can be left here
//	(if (call $begin.i <each parameter>) (then
//	  (call $leave) …))                         ;; suspends, and leaves the function like any suspension
//	(call $end.i)                               ;; the outcome of the wait: the results, or an exception
//
// and a function that is entered again goes on with end. The host provides begin and end; begin, whose first parameter
// is whether no stack can be left, answers 1 for a wait, and 0 if end has the answer already. Both are behind barriers
// if they are JavaScript's.

// waitFuncs returns how many functions are imported for them, behind the driver's: begin and end of each.
func (l *lowering) waitFuncs() uint32 { return 2 * uint32(len(l.waits)) }

// waiting returns the number of an imported function among those that wait, or -1.
func (l *lowering) waiting(op, f uint32) int {
	if op != wasm.OpCall {
		return -1
	}
	for k, i := range l.waits {
		if i == f {
			return k
		}
	}
	return -1
}

// waitImports writes the imports of these functions.
func (l *lowering) waitImports(w *wasm.Writer) {
	for k, f := range l.waits {
		w.Name(Namespace)
		w.Numbered("begin.", f)
		w.Op(wasm.KindFunc, l.waitTypes[2*k])
		w.Name(Namespace)
		w.Numbered("end.", f)
		w.Op(wasm.KindFunc, l.waitTypes[2*k+1])
	}
}

var answer = []validate.Type{validate.I32}

// prepareWaits makes their types.
func (l *lowering) prepareWaits() {
	for _, f := range l.waits {
		l.waitTypes = append(l.waitTypes, l.funcType(l.beginParams(f), answer), l.funcType(nil, l.m.Results(f)))
	}
}

// beginParams returns the parameters of the begin of an import that waits.
func (l *lowering) beginParams(f uint32) []validate.Type {
	return append([]validate.Type{validate.I32}, l.m.Params(f)...)
}

func (l *lowering) waitFunc(k int) uint32 { return uint32(l.m.ImportedFuncs+driverFuncs) + uint32(k) }

// beginWait begins the k-th wait; its operands are in temps. It leaves 1 on the stack for a wait.
func (e *emitter) beginWait(k int, in *ins) {
	e.call(e.l.entry(driverCannotWait))
	e.reload(useOperand, int(in.height)+len(e.s.own(in)), e.s.taken(in))
	e.call(e.l.waitFunc(2 * k))
}

// endWait gets the outcome of the k-th wait.
func (e *emitter) endWait(k int) { e.call(e.l.waitFunc(2*k + 1)) }

// hotWait writes a wait in the function as it is called.
func (e *emitter) hotWait(k int, in *ins) {
	own := e.s.own(in)
	e.spill(useOperand, int(in.height)+len(own), e.s.taken(in))
	e.beginWait(k, in)
	e.Byte(wasm.OpIf) // operands below can be reached only if they are parameters of the block
	e.l.blockType(&e.Writer, own, own)
	e.depth++
	e.call(e.l.entry(driverLeave))
	e.left(in, own, true)
	e.end()
	e.endWait(k)
}

// coldWait writes it in the function that goes on from a frame; its operands are in temps.
func (c *coldEmitter) coldWait(k int, in *ins) {
	e, s := &c.emitter, c.s
	own := s.own(in)
	e.reload(useOperand, int(in.height), own)
	e.block()
	e.get(c.site)
	e.Op(wasm.OpBrIf, 0)
	e.beginWait(k, in)
	e.Byte(0x45) // i32.eqz: it has its answer
	e.Op(wasm.OpBrIf, 0)
	e.call(e.l.entry(driverLeave))
	e.left(in, own, true)
	e.end()
	e.i32(0)
	e.set(c.site)
	c.thrown(in)
	e.endWait(k)
}
