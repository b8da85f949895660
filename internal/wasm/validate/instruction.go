package validate

import "github.com/fiberfill/fiberfill/internal/wasm"

// instruction reads one instruction and checks it.
func (b *Body) instruction() {
	op := uint32(b.r.byte())
	if op >= wasm.PrefixGC && op <= wasm.PrefixAtomic {
		op = op<<12 | min(b.r.u32(), 0xfff)
	}
	b.Op = op
	switch {
	case op-firstNumeric < uint32(len(numeric)):
		b.operate(numeric[op-firstNumeric])
	case op-wasm.OpI32Load < uint32(len(memoryType)):
		b.load(op - wasm.OpI32Load)
	case op < wasm.OpLocalGet:
		b.control(op)
	case op < firstNumeric:
		b.variable(op)
	case op < wasm.OpContNew:
		b.reference(op)
	case op < wasm.PrefixGC:
		b.switching(op)
	case op>>12 == wasm.PrefixGC:
		b.aggregate(op)
	case op>>12 == wasm.PrefixBulk:
		b.bulk(op)
	case op>>12 == wasm.PrefixVector:
		b.vector(op & 0xfff)
	case op>>12 == wasm.PrefixAtomic:
		b.atomic(op & 0xfff)
	default:
		b.noInstruction()
	}
	if b.constant && !constant(op) && (b.err == nil || b.err.Code >= TypeMismatch) && b.r.Code == wasm.OK {
		b.err = nil
		b.fail(NotConstant, b.At)
	}
}

// noInstruction fails where there is none.
func (b *Body) noInstruction() { b.fail(BadOpcode, b.At) }

// constant reports whether a constant expression may have the instruction.
func constant(op uint32) bool {
	switch op {
	case wasm.OpEnd,
		wasm.OpGlobalGet,
		wasm.OpI32Const,
		wasm.OpI64Const,
		wasm.OpF32Const,
		wasm.OpF64Const,
		wasm.OpV128Const,
		wasm.OpI32Add,
		wasm.OpI32Sub,
		wasm.OpI32Mul,
		wasm.OpI64Add,
		wasm.OpI64Sub,
		wasm.OpI64Mul,
		wasm.OpRefNull,
		wasm.OpRefFunc,
		wasm.OpRefI31,
		wasm.OpStructNew,
		wasm.OpStructNewDefault,
		wasm.OpArrayNew,
		wasm.OpArrayNewDefault,
		wasm.OpArrayNewFixed,
		wasm.OpAnyConvertExtern,
		wasm.OpExternConvertAny:
		return true
	}
	return false
}

// variable checks the instructions of locals, globals and tables, memory.size, memory.grow and constants.
func (b *Body) variable(op uint32) {
	switch op {
	case wasm.OpLocalGet, wasm.OpLocalSet, wasm.OpLocalTee:
		b.X = b.r.u32()
		if b.X >= uint32(len(b.Locals)) {
			b.unknown(UnknownLocal, b.X)
			return
		}
		t := b.Locals[b.X]
		if op == wasm.OpLocalGet {
			if !b.Set(b.X) {
				b.unknown(UnsetLocal, b.X)
			}
			b.push(t)
			return
		}
		b.pop(t)
		b.effect = sets
		if op == wasm.OpLocalTee {
			b.push(t)
		}
	case wasm.OpGlobalGet, wasm.OpGlobalSet:
		b.global(op)
	case wasm.OpTableGet, wasm.OpTableSet:
		b.X = b.r.u32()
		t, ok := b.table(b.X)
		if !ok {
			return
		}
		if op == wasm.OpTableSet {
			b.pop(t.Type)
			b.pop(t.address())
			return
		}
		b.pop(t.address())
		b.push(t.Type)
	case wasm.OpMemorySize, wasm.OpMemoryGrow:
		b.X = b.r.u32()
		if b.memory(b.X) {
			t := b.m.Memories[b.X].address()
			if op == wasm.OpMemoryGrow {
				b.pop(t)
			}
			b.push(t)
		}
	case wasm.OpI32Const:
		b.Value = uint64(uint32(b.r.signed(32)))
		b.push(I32)
	case wasm.OpI64Const:
		b.Value = uint64(b.r.signed(64))
		b.push(I64)
	case wasm.OpF32Const:
		b.Value = b.r.fixed(4)
		b.push(F32)
	case wasm.OpF64Const:
		b.Value = b.r.fixed(8)
		b.push(F64)
	default:
		b.noInstruction()
	}
}

func (b *Body) global(op uint32) {
	b.X = b.r.u32()
	if b.X >= uint32(len(b.m.Globals)) || b.constant && b.X >= uint32(b.globals) {
		b.unknown(UnknownGlobal, b.X)
		return
	}
	g := &b.m.Globals[b.X]
	if op == wasm.OpGlobalGet {
		if b.constant && g.Mutable {
			b.unknown(NotConstant, b.X)
		}
		b.push(g.Type)
		return
	}
	if !g.Mutable {
		b.unknown(Immutable, b.X)
	}
	b.pop(g.Type)
}

// reference checks the instructions from d0 on.
func (b *Body) reference(op uint32) {
	switch op {
	case wasm.OpRefNull:
		b.Type = RefNull(b.m.heapType(&b.r))
		b.push(b.Type)
	case wasm.OpRefIsNull:
		b.popRef()
		b.push(I32)
	case wasm.OpRefFunc:
		b.X = b.r.u32()
		if b.X >= uint32(len(b.m.Funcs)) {
			b.unknown(UnknownFunction, b.X)
			return
		}
		if !b.constant && !b.m.Declared(b.X) {
			b.unknown(Undeclared, b.X)
		}
		b.push(Ref(b.m.Funcs[b.X].Type))
	case wasm.OpRefEq:
		b.pop(RefNull(HeapEq))
		b.pop(RefNull(HeapEq))
		b.push(I32)
	case wasm.OpRefAsNonNull:
		b.push(b.popRef().NonNull())
	case wasm.OpBrOnNull:
		b.X = b.r.u32()
		t := b.popRef()
		if label, ok := b.label(b.X); ok {
			b.popAll(label)
			b.pushMore(label, t.NonNull())
		}
	case wasm.OpBrOnNonNull:
		b.X = b.r.u32()
		t := b.popRef()
		b.carries(b.X, t.NonNull())
	default:
		b.noInstruction()
	}
}

// carries checks a branch whose last operand is of a type and is made by the instruction itself. What else it takes
// with it stays where it is.
func (b *Body) carries(l uint32, t Type) []Type {
	label, ok := b.label(l)
	if !ok {
		return nil
	}
	if len(label) == 0 {
		b.mismatch(Unknown, t)
		return nil
	}
	last := len(label) - 1
	if !b.types.Match(t, label[last]) {
		b.mismatch(label[last], t)
	}
	b.popAll(label[:last])
	b.Pushed = label[:last]
	return label[:last]
}

// table returns a table by index.
func (b *Body) table(i uint32) (*Table, bool) {
	if i >= uint32(len(b.m.Tables)) {
		b.unknown(UnknownTable, i)
		return nil, false
	}
	return &b.m.Tables[i], true
}

// memory reports whether there is a memory with this index.
func (b *Body) memory(i uint32) bool {
	if i >= uint32(len(b.m.Memories)) {
		b.unknown(UnknownMemory, i)
		return false
	}
	return true
}

// address returns the type of addresses and sizes.
func (l *Limits) address() Type {
	if l.Is64 {
		return I64
	}
	return I32
}
