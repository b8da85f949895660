package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// A made is a function that the rewriter has added.
type made struct {
	typ  uint32
	of   uint32 // of a cold copy: the guest's function, plus one
	body []byte
}

// reserve adds a function whose body will be known later and returns its index.
func (l *lowering) reserve(typ uint32) uint32 {
	l.made = append(l.made, made{typ: typ})
	return l.fun(uint32(len(l.m.Funcs))) + uint32(len(l.made)-1)
}

func (l *lowering) complete(f uint32, body []byte) {
	l.made[f-l.fun(uint32(len(l.m.Funcs)))].body = body
}

// helper begins a function with so many parameters that contains no code of the guest.
func (l *lowering) helper(params int) *emitter { return &emitter{l: l, first: uint32(params)} }

// saver returns the function that makes a frame of this layout and links it: its parameters are the fields, the site
// and the cold function. The leaf, of a function that suspends, belongs to the stack that is to be captured. Every
// other frame is the caller of the one that was saved before. A frame that lies in its place already, and that nobody
// needs any more, is used again.
func (l *lowering) saver(n int, leaf bool) uint32 {
	if f := l.layouts[n].save[at(leaf)]; f != 0 {
		return f
	}
	fields := l.layouts[n].fields
	f := l.reserve(l.saverType(fields, ""))
	l.layouts[n].save[at(leaf)] = f
	count := uint32(len(fields))
	e := l.helper(len(fields) + 2)
	frame := e.local(validate.RefNull(l.layouts[n].heap))
	e.Raw("\x02\x63") // block (result (ref null $frame))
	e.S32(typeFrame)
	e.call(l.entry(driverSpare + at(leaf)))
	e.Raw("\xfb\x19\x01\x00") // br_on_cast_fail 0 (ref null $frame)
	e.S32(typeFrame)
	e.S32(l.layouts[n].index)
	e.set(frame)
	e.get(frame)
	e.get(count + 1)
	e.structSet(typeFrame, 1)
	e.rewrite(frame, n)
	e.hang(frame, leaf)
	e.Byte(wasm.OpReturn)
	e.Byte(wasm.OpEnd)
	e.Byte(wasm.OpDrop)
	e.Raw("\xd0\x71") // ref.null none: no caller yet
	e.get(count + 1)
	e.get(count)
	for i := range fields {
		e.get(uint32(i))
	}
	e.structNew(l.layouts[n].index)
	e.set(frame)
	e.global(l.hidden(globalFrames))
	e.i32(1)
	e.Byte(wasm.OpI32Add)
	e.Op(wasm.OpGlobalSet, l.hidden(globalFrames))
	e.hang(frame, leaf)
	l.complete(f, e.function(nil))
	return f
}

// at is 1 for the leaf: of two functions, the one for the leaf comes second.
func at(leaf bool) int {
	if leaf {
		return 1
	}
	return 0
}

// rewrite writes a saver's site and fields into a frame that is used again.
func (e *emitter) rewrite(frame uint32, n int) {
	t, count := e.l.layouts[n].index, uint32(len(e.l.layouts[n].fields))
	e.get(frame)
	e.get(count)
	e.structSet(t, 2)
	for i := uint32(0); i < count; i++ {
		e.get(frame)
		e.get(i)
		e.structSet(t, i+3)
	}
}

// hang links the frame in a local to the one that was saved before.
func (e *emitter) hang(frame uint32, leaf bool) {
	e.get(frame)
	e.Byte(wasm.OpRefAsNonNull)
	e.call(e.l.entry(driverHang + at(leaf)))
}

// saverType returns the type of a saver, with further parameters in the binary format.
func (l *lowering) saverType(fields []validate.Type, more string) uint32 {
	var w wasm.Writer
	w.Byte(0x60)
	n := uint32(len(fields) + 2)
	if more != "" {
		n++
	}
	w.U32(n)
	for _, t := range fields {
		l.value(&w, t)
	}
	w.Raw("\x7f\x64")
	w.S32(typeReenter)
	w.Raw(more)
	w.Byte(0)
	return l.types.add(w.B)
}

// resaver returns the function that does the same, with one more parameter: a frame that may be used again, or null.
func (l *lowering) resaver(n int, leaf bool) uint32 {
	if f := l.layouts[n].resave[at(leaf)]; f != 0 {
		return f
	}
	save := l.saver(n, leaf)
	fields := l.layouts[n].fields
	var w wasm.Writer
	w.Byte(0x63)
	w.S32(l.layouts[n].index)
	f := l.reserve(l.saverType(fields, string(w.B)))
	l.layouts[n].resave[at(leaf)] = f
	count := uint32(len(fields))
	frame := count + 2
	e := l.helper(len(fields) + 3)
	e.get(frame)
	e.Byte(wasm.OpRefIsNull)
	e.iff()
	for i := uint32(0); i < frame; i++ {
		e.get(i)
	}
	e.call(save)
	e.Byte(wasm.OpReturn)
	e.end()
	e.rewrite(frame, n)
	e.hang(frame, leaf)
	l.complete(f, e.function(nil))
	return f
}

// A dummyFunc makes a value of a type without a default, which is kept in a global.
type dummyFunc struct {
	t validate.Type
	f uint32
}

// dummy returns the function that makes a value of a type without a default. There must be such a value: see canMake.
func (l *lowering) dummy(t validate.Type) uint32 {
	for _, d := range l.dummies {
		if d.t == t {
			return d.f
		}
	}
	f := l.reserve(l.funcType(nil, []validate.Type{t}))
	l.dummies = append(l.dummies, dummyFunc{t, f})
	var init wasm.Writer
	init.Byte(0x63)
	l.heap(&init, t.Heap())
	init.Byte(mut)
	e := l.helper(0)
	e.null(t)
	init.Bytes(e.B)
	init.Byte(wasm.OpEnd)
	kept := l.addGlobal(string(init.B), false)

	e = l.helper(0)
	e.global(kept)
	e.Byte(wasm.OpRefIsNull)
	e.iff()
	e.make(t.Heap())
	e.Op(wasm.OpGlobalSet, kept)
	e.end()
	e.global(kept)
	e.Byte(wasm.OpRefAsNonNull)
	l.complete(f, e.function(nil))
	return f
}

// make writes how a value of a heap type is made.
func (e *emitter) make(h validate.Heap) {
	l := e.l
	switch h {
	case validate.HeapAny, validate.HeapEq, validate.HeapI31:
		e.Raw("\x41\x00\xfb\x1c") // ref.i31
		return
	case validate.HeapExtern:
		e.Raw("\x41\x00\xfb\x1c\xfb\x1b") // extern.convert_any
		return
	case validate.HeapStruct, validate.HeapCont:
		e.Raw("\xd0\x71") // ref.null none
		e.structNew(typeCont)
		return
	case validate.HeapArray:
		e.Raw("\xfb\x08") // array.new_fixed
		e.U32(typeTags)
		e.U32(0)
		return
	case validate.HeapExn:
		e.Raw("\x02\x69\x1f\x40\x01\x03\x00") // block (result exnref), try_table (catch_all_ref 0)
		e.Op(wasm.OpThrow, l.ownTag())
		e.Raw("\x0b\x00\x0b") // end, unreachable, end
		return
	case validate.HeapFunc:
		e.Op(wasm.OpRefFunc, l.unreachable(l.funcType(nil, nil)))
		return
	}
	switch d := l.t.Def(h); d.Form {
	case validate.FormFunc:
		e.Op(wasm.OpRefFunc, l.unreachable(l.index[h]))
	case validate.FormCont:
		e.Raw("\xd0\x71") // ref.null none
		e.wrap(h)
	case validate.FormArray:
		e.Raw("\xfb\x08") // array.new_fixed
		e.U32(l.index[h])
		e.U32(0)
	default:
		for _, field := range l.t.Fields(h) {
			t := field.Type
			if t == validate.I8 || t == validate.I16 {
				t = validate.I32
			}
			e.dummies([]validate.Type{t})
		}
		e.structNew(l.index[h])
	}
}

// unreachable returns a function of this type that nobody will call.
func (l *lowering) unreachable(typ uint32) uint32 {
	f := l.reserve(typ)
	l.complete(f, []byte{0, wasm.OpUnreachable, wasm.OpEnd})
	return f
}

// canMake reports whether a program can have any value of this type.
func (l *lowering) canMake(t validate.Type, inside []validate.Heap) bool {
	if t.Defaultable() {
		return true
	}
	h := t.Heap()
	if !h.Defined() {
		return h != validate.HeapNone && h != validate.HeapNoFunc && h != validate.HeapNoExtern &&
			h != validate.HeapNoExn && h != validate.HeapNoCont
	}
	if l.t.Def(h).Form != validate.FormStruct {
		return true
	}
	for _, around := range inside {
		if around == h {
			return false
		}
	}
	for _, field := range l.t.Fields(h) {
		if !l.canMake(field.Type, append(inside, h)) {
			return false
		}
	}
	return true
}
