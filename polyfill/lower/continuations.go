package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// newCont returns the function that does cont.new, and the cont.bind from one type to the other that follows it, if
// they differ: it makes a stack whose one frame calls the function with the values that are bound and the others. Its
// parameters are the bound values and the function.
func (l *lowering) newCont(from, to validate.Heap) uint32 {
	for _, k := range l.conts {
		if k.from == from && k.to == to && k.fresh {
			return k.f
		}
	}
	ft := l.t.FuncOf(from)
	params := append(l.bound(from, to), validate.RefNull(ft))
	f := l.reserve(l.funcType(params, []validate.Type{validate.Ref(to)}))
	l.conts = append(l.conts, contFunc{from, to, true, f})
	n := l.layout(params)
	last := uint32(len(params) - 1)
	e := l.helper(len(params))
	e.Raw("\xd0\x71") // ref.null none
	e.Op(wasm.OpRefFunc, l.starter(ft, n))
	e.i32(0)
	for i := range last {
		e.get(i)
	}
	e.get(last)
	e.Byte(wasm.OpRefAsNonNull)
	e.structNew(l.layouts[n].index)
	e.call(l.entry(driverNew))
	e.wrap(to)
	l.complete(f, e.function(nil))
	return f
}

// bound returns the types of the values that a cont.bind puts before the others.
func (l *lowering) bound(from, to validate.Heap) []validate.Type {
	all := l.t.Params(l.t.FuncOf(from))
	return append([]validate.Type(nil), all[:len(all)-len(l.t.Params(l.t.FuncOf(to)))]...)
}

// received returns the function that makes a reference to a continuation of what a register holds: a reference, or the
// stack that has executed a switch. A register is an old object, and to write a reference to a new one into it costs
// 6 ns: so the reference is made here.
func (l *lowering) received(id validate.Heap) uint32 {
	for i, t := range l.recvTypes {
		if t == id {
			return l.receivers[i]
		}
	}
	params := []validate.Type{validate.RefNull(validate.HeapAny)}
	f := l.reserve(l.funcType(params, []validate.Type{validate.RefNull(id)}))
	l.recvTypes = append(l.recvTypes, id)
	l.receivers = append(l.receivers, f)
	e := l.helper(1)
	e.Raw("\x02\x6e") // block (result anyref)
	e.get(0)
	e.Raw("\xfb\x19\x01\x00\x6e") // br_on_cast_fail 0 anyref (ref $stack)
	e.S32(typeStack)
	if id == validate.HeapCont {
		e.structNew(typeCont)
	} else {
		e.wrap(id)
	}
	e.Byte(wasm.OpReturn)
	e.Byte(wasm.OpEnd)
	e.Raw("\xfb\x17") // ref.cast (ref null …)
	l.heap(&e.Writer, id)
	l.complete(f, e.function(nil))
	return f
}

// continuation reports whether references to this type are references to continuations.
func (l *lowering) continuation(h validate.Heap) bool {
	return h == validate.HeapCont || h.Defined() && l.t.Def(h).Form == validate.FormCont
}

// A contFunc is a function that does cont.new, with or without cont.bind, or cont.bind alone.
type contFunc struct {
	from, to validate.Heap
	fresh    bool
	f        uint32
}

// starter returns the function that enters a fresh continuation with a frame of this layout: it calls the
// continuation's function with the values that are bound and those in the registers.
func (l *lowering) starter(ft validate.Heap, n int) uint32 {
	for _, s := range l.starters {
		if s.ft == ft && s.layout == n {
			return s.f
		}
	}
	f := l.reserve(typeReenter)
	l.starters = append(l.starters, startFunc{ft, n, f})
	params := l.t.Params(ft)
	bound := params[:len(l.layouts[n].fields)-1]
	e := l.helper(1)
	frame := e.unbind(n, bound)
	e.fromRegisters(params[len(bound):])
	e.get(frame)
	e.structGet(l.layouts[n].index, uint32(len(bound))+3)
	e.Op(wasm.OpCallRef, l.index[ft])
	e.global(l.hidden(globalState))
	e.iff()
	e.Byte(wasm.OpReturn) // left: its results are none
	e.end()
	e.toRegisters(l.t.Results(ft))
	l.complete(f, e.function(nil))
	return f
}

// A startFunc is a function that enters fresh continuations.
type startFunc struct {
	ft     validate.Heap
	layout int
	f      uint32
}

// unbind pushes the values that cont.bind has put into the frame that a function is entered with, its first fields.
// Returns the local with the frame.
func (e *emitter) unbind(n int, bound []validate.Type) (frame uint32) {
	l := e.l.layouts[n]
	frame = e.local(validate.RefNull(l.heap))
	e.get(0)
	e.Raw("\xfb\x16") // ref.cast
	e.S32(l.index)
	e.set(frame)
	for i, v := range bound {
		e.get(frame)
		e.structGet(l.index, uint32(i)+3)
		if !v.Defaultable() {
			e.Byte(wasm.OpRefAsNonNull)
		}
	}
	return frame
}

// bindCont returns the function that does cont.bind: it puts a frame on top that will put the bound values before the
// others.
func (l *lowering) bindCont(from, to validate.Heap) uint32 {
	for _, k := range l.conts {
		if k.from == from && k.to == to && !k.fresh {
			return k.f
		}
	}
	all := l.t.Params(l.t.FuncOf(from))
	params := append(l.bound(from, to), validate.RefNull(from))
	bound := params[:len(params)-1]
	f := l.reserve(l.funcType(params, []validate.Type{validate.Ref(to)}))
	l.conts = append(l.conts, contFunc{from, to, false, f})
	n := l.layout(bound)
	t := l.layouts[n].index

	enter := l.reserve(typeReenter)
	e := l.helper(1)
	e.unbind(n, bound)
	e.fromRegisters(all[len(bound):])
	e.toRegisters(all)
	l.complete(enter, e.function(nil))

	e = l.helper(len(params))
	e.get(uint32(len(bound)))
	e.Raw("\xd0\x71") // ref.null none
	e.Op(wasm.OpRefFunc, enter)
	e.i32(0)
	for i := range bound {
		e.get(uint32(i))
	}
	e.structNew(t)
	e.call(l.entry(driverBind))
	e.wrap(to)
	l.complete(f, e.function(nil))
	return f
}
