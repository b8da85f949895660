package validate

import "github.com/fiberfill/fiberfill/internal/wasm"

// memoryArgument reads what follows the opcode of an instruction that accesses a memory, at most 2^natural bytes, and
// returns the type of its addresses.
func (b *Body) memoryArgument(natural byte) Type {
	at := b.r.Pos
	flags := b.r.u32()
	if flags >= 0x80 {
		b.fail(BadFlags, at)
		return Unknown
	}
	b.X, b.Align = 0, flags&0x3f
	if flags&0x40 != 0 {
		b.X = b.r.u32()
	}
	b.Value = b.r.u64()
	if !b.memory(b.X) {
		return Unknown
	}
	if b.Align > uint32(natural) {
		b.fail(BadAlignment, b.At)
	}
	m := &b.m.Memories[b.X]
	if !m.Is64 && b.Value > 0xffffffff {
		b.fail(BadOffset, b.At)
	}
	return m.address()
}

// load checks a load or store of a number, counted from i32.load.
func (b *Body) load(n uint32) {
	address := b.memoryArgument(memorySize[n] - '0')
	t := numberType(memoryType[n])
	if n < wasm.OpI32Store-wasm.OpI32Load {
		b.pop(address)
		b.push(t)
		return
	}
	b.pop(t)
	b.pop(address)
}

func numberType(letter byte) Type {
	switch letter {
	case 'i':
		return I32
	case 'l':
		return I64
	case 'f':
		return F32
	}
	return F64
}

// bulk checks the instructions with prefix fc.
func (b *Body) bulk(op uint32) {
	if n := op & 0xfff; n < uint32(len(saturating)) {
		b.operate(saturating[n])
		return
	}
	switch op {
	case wasm.OpMemoryInit:
		b.X, b.Y = b.r.u32(), b.r.u32()
		if b.data(b.X) && b.memory(b.Y) {
			b.pop(I32)
			b.pop(I32)
			b.pop(b.m.Memories[b.Y].address())
		}
	case wasm.OpDataDrop:
		b.X = b.r.u32()
		b.data(b.X)
	case wasm.OpMemoryCopy:
		b.X, b.Y = b.r.u32(), b.r.u32()
		if b.memory(b.X) && b.memory(b.Y) {
			to, from := b.m.Memories[b.X].address(), b.m.Memories[b.Y].address()
			b.pop(smaller(to, from))
			b.pop(from)
			b.pop(to)
		}
	case wasm.OpMemoryFill:
		b.X = b.r.u32()
		if b.memory(b.X) {
			t := b.m.Memories[b.X].address()
			b.pop(t)
			b.pop(I32)
			b.pop(t)
		}
	case wasm.OpTableInit:
		b.X, b.Y = b.r.u32(), b.r.u32()
		e := b.element(b.X)
		if t, ok := b.table(b.Y); ok && b.err == nil {
			b.elements(t.Type, e)
			b.pop(I32)
			b.pop(I32)
			b.pop(t.address())
		}
	case wasm.OpElemDrop:
		b.X = b.r.u32()
		b.element(b.X)
	case wasm.OpTableCopy:
		b.X, b.Y = b.r.u32(), b.r.u32()
		to, ok := b.table(b.X)
		from, ok2 := b.table(b.Y)
		if ok && ok2 {
			b.elements(to.Type, from.Type)
			b.pop(smaller(to.address(), from.address()))
			b.pop(from.address())
			b.pop(to.address())
		}
	case wasm.OpTableGrow:
		b.X = b.r.u32()
		if t, ok := b.table(b.X); ok {
			b.pop(t.address())
			b.pop(t.Type)
			b.push(t.address())
		}
	case wasm.OpTableSize:
		b.X = b.r.u32()
		if t, ok := b.table(b.X); ok {
			b.push(t.address())
		}
	case wasm.OpTableFill:
		b.X = b.r.u32()
		if t, ok := b.table(b.X); ok {
			b.pop(t.address())
			b.pop(t.Type)
			b.pop(t.address())
		}
	default:
		b.noInstruction()
	}
}

// smaller returns the type of a length that both types of addresses can hold.
func smaller(t, u Type) Type {
	if t == I64 {
		return u
	}
	return t
}

// data reports whether there is a data segment with this index. A section before the code must declare how many there
// are.
func (b *Body) data(i uint32) bool {
	if b.m.dataCount < 0 {
		b.fail(DataCount, b.At)
		return false
	}
	if int64(i) >= b.m.dataCount {
		b.unknown(UnknownData, i)
		return false
	}
	return true
}

// element returns the type of an element segment's elements.
func (b *Body) element(i uint32) Type {
	if i >= uint32(len(b.m.Elements)) {
		b.unknown(UnknownElement, i)
		return Unknown
	}
	return b.m.Elements[i].Type
}

// elements checks that elements of one type may be put where another is wanted.
func (b *Body) elements(want, got Type) {
	if !b.types.Match(got, want) {
		b.mismatch(want, got)
	}
}

// vector checks the instructions with prefix fd.
func (b *Body) vector(n uint32) {
	if n >= uint32(len(vector)) {
		b.noInstruction()
		return
	}
	switch letter := vector[n]; letter {
	case '.':
		b.noInstruction()
	case 'L', 'S':
		natural := byte(4)
		switch {
		case n >= 1 && n <= 6:
			natural = 3
		case n >= 7 && n <= 10:
			natural = byte(n - 7)
		case n >= 0x5c:
			natural = byte(n - 0x5c + 2)
		}
		address := b.memoryArgument(natural)
		if letter == 'S' {
			b.pop(V128)
			b.pop(address)
			return
		}
		b.pop(address)
		b.push(V128)
	case 'M', 'N':
		natural := byte(n) & 3
		address := b.memoryArgument(natural)
		b.lane(16 >> natural)
		b.pop(V128)
		b.pop(address)
		if letter == 'M' {
			b.push(V128)
		}
	case 'K':
		b.r.Skip(16)
		b.push(V128)
	case 'Z':
		for range 16 {
			b.lane(32)
		}
		b.operate(letter)
	default:
		if n >= 0x15 && n <= 0x22 {
			b.lane(lanes[n-0x15])
		}
		b.operate(letter)
	}
}

// lane reads the number of a lane.
func (b *Body) lane(count byte) {
	b.Lane = b.r.Byte()
	if b.Lane >= count {
		b.unknown(BadLane, uint32(b.Lane))
	}
}

// atomic checks the instructions with prefix fe. Their alignment must be their size.
func (b *Body) atomic(n uint32) {
	const types, sizes = "iliilll", "2301012" // of 10 to 4e, over and over
	natural, t := byte(2), I32
	switch {
	case n < 3:
		if n == 2 {
			natural, t = 3, I64
		}
	case n == 3: // fence
		if b.r.Byte() != 0 {
			b.fail(BadFlags, b.r.Pos-1)
		}
		return
	case n < 0x10 || n > 0x4e:
		b.noInstruction()
		return
	default:
		natural, t = sizes[(n-0x10)%7]-'0', numberType(types[(n-0x10)%7])
	}
	address := b.memoryArgument(natural)
	if b.Align != uint32(natural) {
		b.fail(BadAlignment, b.At)
	}
	switch {
	case n == 0: // notify
		b.pop(I32)
	case n < 3: // wait
		b.pop(I64)
		b.pop(t)
		t = I32
	case n < 0x17: // load
	case n < 0x1e: // store
		b.pop(t)
		b.pop(address)
		return
	case n < 0x48: // read, modify, write
		b.pop(t)
	default: // compare, exchange
		b.pop(t)
		b.pop(t)
	}
	b.pop(address)
	b.push(t)
}
