package validate

import "github.com/fiberfill/fiberfill/internal/wasm"

// aggregate checks the instructions with prefix fb: structures, arrays, casts.
func (b *Body) aggregate(op uint32) {
	switch {
	case op <= wasm.OpStructSet:
		b.structure(op)
	case op <= wasm.OpArrayInitElem && op != wasm.OpArrayLen:
		b.array(op)
	case op >= wasm.OpRefTest && op <= wasm.OpRefCastNull:
		h := b.m.heapType(&b.r)
		b.Type = Ref(h)
		if op&1 != 0 {
			b.Type = RefNull(h)
		}
		b.castable(b.Type)
		if b.fine() {
			b.pop(RefNull(b.types.Top(h)))
			b.push(b.Type)
			if op <= wasm.OpRefTestNull {
				b.push(I32)
			}
		}
	case op == wasm.OpBrOnCast || op == wasm.OpBrOnCastFail:
		b.branchOnCast(op)
	default:
		b.convert(op)
	}
}

// convert checks array.len and the instructions without immediates.
func (b *Body) convert(op uint32) {
	switch op {
	case wasm.OpArrayLen:
		b.pop(RefNull(HeapArray))
		b.push(I32)
	case wasm.OpAnyConvertExtern:
		b.external(HeapExtern, HeapAny)
	case wasm.OpExternConvertAny:
		b.external(HeapAny, HeapExtern)
	case wasm.OpRefI31:
		b.pop(I32)
		b.push(Ref(HeapI31))
	case wasm.OpI31GetS, wasm.OpI31GetU:
		b.pop(RefNull(HeapI31))
		b.push(I32)
	default:
		b.noInstruction()
	}
}

// external checks a conversion between references of the two worlds. Null stays null.
func (b *Body) external(from, to Heap) {
	t := b.popRef()
	if !b.types.Match(t, RefNull(from)) {
		b.mismatch(RefNull(from), t)
	}
	if t.Nullable() {
		b.push(RefNull(to))
	} else {
		b.push(Ref(to))
	}
}

// castable fails for continuations: nothing is known of them at run time.
func (b *Body) castable(t Type) {
	if b.fine() && b.types.Match(t, RefNull(HeapCont)) {
		b.fail(BadCast, b.At).Got = t
	}
}

func (b *Body) branchOnCast(op uint32) {
	at := b.r.Pos
	flags := b.r.Byte()
	if flags > 3 {
		b.fail(BadFlags, at)
	}
	b.X = b.r.u32()
	b.Source, b.Type = Ref(b.m.heapType(&b.r)), Ref(b.m.heapType(&b.r))
	if flags&1 != 0 {
		b.Source |= nullable
	}
	if flags&2 != 0 {
		b.Type |= nullable
	}
	b.castable(b.Type)
	if !b.fine() {
		return
	}
	if !b.types.Match(b.Type, b.Source) {
		b.mismatch(b.Source, b.Type)
	}
	failed := b.Source // what it is if it is not of the type: not null, if the type takes null
	if b.Type.Nullable() {
		failed = failed.NonNull()
	}
	goes, stays := b.Type, failed
	if op == wasm.OpBrOnCastFail {
		goes, stays = failed, b.Type
	}
	b.pop(b.Source)
	b.pushMore(b.carries(b.X, goes), stays)
}

// structure checks the instructions of structures.
func (b *Body) structure(op uint32) {
	b.X = b.r.u32()
	if op >= wasm.OpStructGet {
		b.Y = b.r.u32()
	}
	id, ok := b.formed(b.X, FormStruct)
	if !ok {
		return
	}
	fields := b.types.Fields(id)
	switch op {
	case wasm.OpStructNew:
		for i := len(fields) - 1; i >= 0; i-- {
			b.pop(fields[i].Type.unpacked())
		}
		b.push(Ref(id))
		return
	case wasm.OpStructNewDefault:
		for _, f := range fields {
			b.defaultable(f.Type)
		}
		b.push(Ref(id))
		return
	}
	if b.Y >= uint32(len(fields)) {
		b.unknown(UnknownField, b.Y)
		return
	}
	f := fields[b.Y]
	if op == wasm.OpStructSet {
		b.mutable(f)
		b.pop(f.Type.unpacked())
		b.pop(RefNull(id))
		return
	}
	b.packed(f.Type, op != wasm.OpStructGet)
	b.pop(RefNull(id))
	b.push(f.Type.unpacked())
}

// mutable, packed, defaultable and plain fail if a field is not what an instruction needs.
func (b *Body) mutable(f Field) {
	if !f.Mutable {
		b.unknown(Immutable, b.X)
	}
}

func (b *Body) packed(t Type, signed bool) {
	if signed != (t != t.unpacked()) {
		b.fail(Packed, b.At).Got = t
	}
}

func (b *Body) defaultable(t Type) {
	if !t.Defaultable() {
		b.fail(NoDefault, b.At).Got = t
	}
}

func (b *Body) plain(t Type) {
	if t.IsRef() {
		b.mismatch(Unknown, t)
	}
}

// array checks the instructions of arrays.
func (b *Body) array(op uint32) {
	b.X = b.r.u32()
	switch op {
	case wasm.OpArrayNewFixed, wasm.OpArrayNewData, wasm.OpArrayNewElem, wasm.OpArrayCopy, wasm.OpArrayInitData,
		wasm.OpArrayInitElem:
		b.Y = b.r.u32()
	}
	id, ok := b.formed(b.X, FormArray)
	if !ok {
		return
	}
	field := b.types.Fields(id)[0]
	t := field.Type.unpacked()
	switch op {
	case wasm.OpArrayNew:
		b.pop(I32)
		b.pop(t)
		b.push(Ref(id))
	case wasm.OpArrayNewDefault:
		b.defaultable(field.Type)
		b.pop(I32)
		b.push(Ref(id))
	case wasm.OpArrayNewFixed:
		if b.Y > maxFixed {
			b.unknown(TooMany, b.Y)
			return
		}
		for range b.Y {
			b.pop(t)
		}
		b.push(Ref(id))
	case wasm.OpArrayNewData, wasm.OpArrayNewElem:
		b.segment(op == wasm.OpArrayNewData, field.Type)
		b.pop(I32)
		b.pop(I32)
		b.push(Ref(id))
	case wasm.OpArrayGet, wasm.OpArrayGetS, wasm.OpArrayGetU:
		b.packed(field.Type, op != wasm.OpArrayGet)
		b.pop(I32)
		b.pop(RefNull(id))
		b.push(t)
	case wasm.OpArraySet:
		b.mutable(field)
		b.pop(t)
		b.pop(I32)
		b.pop(RefNull(id))
	case wasm.OpArrayFill:
		b.mutable(field)
		b.pop(I32)
		b.pop(t)
		b.pop(I32)
		b.pop(RefNull(id))
	case wasm.OpArrayCopy:
		b.copyArray(id, field)
	case wasm.OpArrayInitData, wasm.OpArrayInitElem:
		b.mutable(field)
		b.segment(op == wasm.OpArrayInitData, field.Type)
		b.pop(I32)
		b.pop(I32)
		b.pop(I32)
		b.pop(RefNull(id))
	}
}

// segment checks that an array of elements of type t may be filled from segment Y.
func (b *Body) segment(data bool, t Type) {
	if data {
		b.data(b.Y)
		b.plain(t)
		return
	}
	b.elements(t, b.element(b.Y))
}

func (b *Body) copyArray(to Heap, field Field) {
	from, ok := b.formed(b.Y, FormArray)
	if !ok {
		return
	}
	b.mutable(field)
	b.elements(field.Type, b.types.Fields(from)[0].Type)
	b.pop(I32)
	b.pop(I32)
	b.pop(RefNull(from))
	b.pop(I32)
	b.pop(RefNull(to))
}
