package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// The indices in the output for the guest's own indices, or for the driver's.
func (l *lowering) typ(x uint32) uint32 {
	if l.move != nil {
		return l.move.types[x]
	}
	return x + baseTypes
}

func (l *lowering) fun(x uint32) uint32 {
	if l.move != nil {
		return l.move.funcs[x]
	}
	if x < uint32(l.m.ImportedFuncs) {
		return x
	}
	return x + driverFuncs + l.waitFuncs()
}

func (l *lowering) glob(x uint32) uint32 {
	if l.move != nil {
		return l.move.globals[x]
	}
	if x < uint32(l.m.ImportedGlobals) {
		return x
	}
	return x + l.hiddenGlobals
}

// copyValue copies a value type, or a block type, from the guest's bytes.
func (l *lowering) copyValue(r *wasm.Reader, w *wasm.Writer) {
	switch b := r.Peek(); {
	case b == 0x63 || b == 0x64:
		w.Byte(r.Byte())
		l.copyHeap(r, w)
	case b == 0x68: // contref
		r.Byte()
		w.Byte(0x63)
		w.S32(typeCont)
	case b >= 0x40 && b < 0x80:
		l.copyHeap(r, w)
	default: // a block's type that is a function type
		w.S32(l.typ(r.Leb()))
	}
}

// copyHeap copies a heap type.
func (l *lowering) copyHeap(r *wasm.Reader, w *wasm.Writer) {
	switch b := r.Peek(); {
	case b == 0x68: // cont
		r.Byte()
		w.S32(typeCont)
	case b == 0x75: // nocont
		r.Byte()
		w.Byte(validate.HeapNone.Byte())
	case b >= 0x40 && b < 0x80:
		w.Byte(r.Byte())
	default:
		w.S32(l.typ(r.Leb()))
	}
}

// The forms of immediates whose indices change in the output. Other instructions are copied byte for byte.
type form byte

const (
	plain     form = iota
	aType          // a type index
	aTypeNext      // a type index, and something else behind it
	twoTypes
	aFunc
	aGlobal
	aHeap
	aLocal
	aLabel
	labels // br_table
	aBlock
	aTry
	aSelect
	aCast // br_on_cast
	aCont // cont.new
)

// forms has these forms for the opcodes of one byte.
var forms = func() (list [256]form) {
	for op := range list {
		list[op] = slowForm(uint32(op))
	}
	return
}()

func formOf(op uint32) form {
	if op < uint32(len(forms)) {
		return forms[op]
	}
	return slowForm(op)
}

func slowForm(op uint32) form {
	switch op {
	case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
		return aBlock
	case wasm.OpTryTable:
		return aTry
	case wasm.OpBr, wasm.OpBrIf, wasm.OpBrOnNull, wasm.OpBrOnNonNull:
		return aLabel
	case wasm.OpBrTable:
		return labels
	case wasm.OpCall, wasm.OpReturnCall, wasm.OpRefFunc:
		return aFunc
	case wasm.OpCallRef, wasm.OpReturnCallRef:
		return aType
	case wasm.OpCallIndirect, wasm.OpReturnCallIndirect:
		return aTypeNext
	case wasm.OpSelectTyped:
		return aSelect
	case wasm.OpLocalGet, wasm.OpLocalSet, wasm.OpLocalTee:
		return aLocal
	case wasm.OpGlobalGet, wasm.OpGlobalSet:
		return aGlobal
	case wasm.OpRefNull, wasm.OpRefTest, wasm.OpRefTestNull, wasm.OpRefCast, wasm.OpRefCastNull:
		return aHeap
	case wasm.OpStructNew, wasm.OpStructNewDefault, wasm.OpArrayNew, wasm.OpArrayNewDefault, wasm.OpArrayGet,
		wasm.OpArrayGetS, wasm.OpArrayGetU, wasm.OpArraySet, wasm.OpArrayFill:
		return aType
	case wasm.OpStructGet, wasm.OpStructGetS, wasm.OpStructGetU, wasm.OpStructSet, wasm.OpArrayNewFixed,
		wasm.OpArrayNewData, wasm.OpArrayNewElem, wasm.OpArrayInitData, wasm.OpArrayInitElem:
		return aTypeNext
	case wasm.OpArrayCopy:
		return twoTypes
	case wasm.OpBrOnCast, wasm.OpBrOnCastFail:
		return aCast
	case wasm.OpContNew, wasm.OpContBind:
		return aCont
	}
	return plain
}

// opcode copies the opcode of an instruction and returns a reader of what follows.
func (e *emitter) opcode(op uint32, at, end int) wasm.Reader {
	r := wasm.Reader{Bin: e.l.m.Bin, Pos: at, End: end}
	e.Byte(r.Byte())
	if op >= 0x1000 {
		e.U32(r.U32())
	}
	return r
}

// copy copies an instruction with the indices and labels of the output.
func (e *emitter) copy(op uint32, at, end int) {
	l := e.l
	kind := formOf(op)
	switch kind {
	case plain:
		e.Bytes(l.m.Bin[at:end])
		return
	case aCont:
		e.cont(op, at, end)
		return
	case aLocal:
		e.local_(op, at, end)
		return
	}
	r := e.opcode(op, at, end)
	switch kind {
	case aType, aTypeNext, twoTypes:
		e.U32(l.typ(r.U32()))
		if kind == twoTypes {
			e.U32(l.typ(r.U32()))
		}
	case aFunc:
		f := r.U32()
		if l.move != nil {
			l.move.want(f)
		}
		if op == wasm.OpRefFunc {
			e.U32(l.fun(f))
		} else {
			e.U32(l.code(f))
		}
	case aGlobal:
		e.U32(l.glob(r.U32()))
	case aHeap:
		l.copyHeap(&r, &e.Writer)
	case aLabel:
		e.U32(e.label(r.U32()))
	case labels:
		n := r.U32()
		e.U32(n)
		for ; n > 0; n-- {
			e.U32(e.label(r.U32()))
		}
		e.U32(e.label(r.U32()))
	case aBlock:
		l.copyValue(&r, &e.Writer)
	case aTry:
		l.copyValue(&r, &e.Writer)
		e.catches(&r)
	case aSelect:
		n := r.U32()
		e.U32(n)
		for ; n > 0; n-- {
			l.copyValue(&r, &e.Writer)
		}
	case aCast:
		e.Byte(r.Byte())
		e.U32(e.label(r.U32()))
		l.copyHeap(&r, &e.Writer)
		l.copyHeap(&r, &e.Writer)
	}
	e.Bytes(l.m.Bin[r.Pos:end])
}

// cont writes the call of a function that does cont.new or cont.bind. Where the one follows the other, as it does where
// a function is given arguments, one call does both, and the bind needs no frame and no turn of the driver's loop.
func (e *emitter) cont(op uint32, at, end int) {
	l := e.l
	r := wasm.Reader{Bin: l.m.Bin, Pos: at + 1, End: end}
	from := l.m.TypeIDs[r.U32()]
	switch {
	case op == wasm.OpContBind && at == e.bound:
	case op == wasm.OpContBind:
		e.call(l.bindCont(from, l.m.TypeIDs[r.U32()]))
	case l.m.Bin[end] == wasm.OpContBind:
		e.bound = end
		r = wasm.Reader{Bin: l.m.Bin, Pos: end + 1, End: len(l.m.Bin)}
		r.U32()
		e.call(l.newCont(from, l.m.TypeIDs[r.U32()]))
	default:
		e.call(l.newCont(from, from))
	}
}

// catches copies the clauses of a try_table, whose labels are those outside of it.
func (e *emitter) catches(r *wasm.Reader) {
	n := r.U32()
	e.U32(n)
	for ; n > 0; n-- {
		kind := r.Byte()
		e.Byte(kind)
		if kind == validate.CatchTag || kind == validate.CatchTagRef {
			e.U32(r.U32())
		}
		e.U32(e.label(r.U32()))
	}
}

// local_ copies an access to a local.
func (e *emitter) local_(op uint32, at, end int) {
	if !e.cold {
		e.Bytes(e.l.m.Bin[at:end])
		return
	}
	r := wasm.Reader{Bin: e.l.m.Bin, Pos: at + 1, End: end}
	x := r.U32()
	e.Op(byte(op), e.variable(x))
	// In the cold function every local may be null, as far as the engine knows.
	if op != wasm.OpLocalSet && !e.s.locals[x].Defaultable() {
		e.Byte(wasm.OpRefAsNonNull)
	}
}

// copyAll copies a function that is never left, or a constant expression, without its locals.
func (e *emitter) copyAll(b *validate.Body) {
	e.open = append(e.open[:0], 0)
	for b.Next() {
		if b.Op == wasm.OpEnd && len(b.Controls) == 1 {
			return // the emitter writes the last end itself
		}
		e.copy(b.Op, b.At, b.End)
		switch b.Op {
		case wasm.OpEnd:
			e.depth--
			e.open = e.open[:len(e.open)-1]
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf, wasm.OpTryTable:
			e.depth++
			e.open = append(e.open, e.depth)
		}
	}
}
