package wasm

// What follows an opcode, by opcode: 0, 1 or 2 numbers; a (t)ype; a (m)emory argument; 4 or 8 bytes; the labels of a
// (b)r_table; the types of a (s)elect; the type and the (c)atches of a try_table; the rest of an opcode of which this
// is only the (p)refix. A dot is an opcode that nothing here knows.
const immediates = "" +
	"00ttt0t1110011b0" + // 00 block loop if else try catch throw rethrow throw_ref end br br_if br_table return
	"121211..1000s..c" + // 10 calls, delegate, catch_all, drop, select, try_table
	"1111111.mmmmmmmm" + // 20 locals, globals, tables, loads
	"mmmmmmmmmmmmmmm1" + // 30 loads, stores, memory.size
	"1114800000000000" + // 40 memory.grow, constants
	"0000000000000000" + // 50 to c4: comparing, computing, converting
	"0000000000000000" +
	"0000000000000000" +
	"0000000000000000" +
	"0000000000000000" +
	"0000000000000000" +
	"0000000000000000" +
	"00000..........." + // c0
	"t010011........." + // d0 references
	"................" + // e0
	"...........pppp." // f0

const (
	// 0xfb: struct and array instructions; r is br_on_cast: flags, label, two types
	gcImmediates = "1122221122211110" + "1222" + "tttt" + "rr" + "00000"
	// 0xfc: saturating truncations, bulk memory, tables, wide arithmetic
	bulkImmediates = "00000000" + "2121" + "2121" + "11" + "." + "0000"
)

// prefixed says what follows the opcode with this prefix.
//
//go:noinline
func prefixed(prefix byte, op uint32) byte {
	switch {
	case prefix == 0xfb && op < uint32(len(gcImmediates)):
		return gcImmediates[op]
	case prefix == 0xfc && op < uint32(len(bulkImmediates)):
		return bulkImmediates[op]
	case prefix == 0xfd: // vectors
		switch {
		case op < 12 || op-92 < 2: // loads and stores
			return 'm'
		case op < 14: // v128.const, i8x16.shuffle
			return 'v'
		case op-21 < 14: // of one lane
			return '1'
		case op-84 < 8: // loads and stores of one lane
			return 'l'
		case op < 0x114:
			return '0'
		}
	case prefix == 0xfe: // atomics
		switch {
		case op < 3 || op-16 < 63:
			return 'm'
		case op == 3: // fence
			return '1'
		}
	}
	return '.'
}

// instruction skips one instruction and returns the first byte of its opcode.
//
//go:noinline
func (r *Reader) instruction() byte {
	at := r.Pos
	op := r.Byte()
	what := immediates[op]
	if what == 'p' {
		what = prefixed(op, r.U32())
	}
	switch what {
	case '1':
		r.Leb()
	case '2':
		r.Leb()
		r.Leb()
	case 't':
		r.ValType()
	case 'm', 'l':
		if r.Leb()&0x40 != 0 {
			r.Leb() // not memory 0
		}
		r.Leb() // offset
		if what == 'l' {
			r.Byte()
		}
	case '4':
		r.Skip(4)
	case '8':
		r.Skip(8)
	case 'v':
		r.Skip(16)
	case 'b':
		for n := r.U32(); n > 0 && r.Code == OK; n-- {
			r.Leb()
		}
		r.Leb() // the default
	case 's':
		r.ValTypes()
	case 'r':
		r.Byte()
		r.U32()
		r.ValType()
		r.ValType()
	case 'c':
		r.ValType()
		for n := r.U32(); n > 0 && r.Code == OK; n-- {
			if r.Byte() < 2 { // catch, catch_ref: the tag
				r.U32()
			}
			r.U32()
		}
	case '.':
		r.Fail(BadOpcode, at)
	}
	return op
}
