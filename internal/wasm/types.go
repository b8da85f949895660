package wasm

// Forms of entries of the type section.
const (
	formRec      = 0x4e // so many entries that refer to each other
	formSubFinal = 0x4f
	formSub      = 0x50
	formCont     = 0x5d
	formArray    = 0x5e
	formStruct   = 0x5f
	formFunc     = 0x60
	formShared   = 0x65
)

// readTypes reads one entry of the type section. A group counts as one entry there and as all its members in the index
// space.
//
//go:noinline
func (m *Module) readTypes(r *Reader) {
	form := r.Byte()
	if form != formRec {
		m.subType(r, form)
		return
	}
	for n := r.U32(); n > 0 && r.Code == OK; n-- {
		m.subType(r, r.Byte())
	}
}

//go:noinline
func (m *Module) subType(r *Reader, form byte) {
	if form == formSub || form == formSubFinal {
		for n := r.U32(); n > 0 && r.Code == OK; n-- {
			r.U32() // a super type
		}
		form = r.Byte()
	}
	if form == formShared {
		form = r.Byte()
	}
	at := 0
	switch form {
	case formFunc:
		at = r.Pos
		r.ValTypes()
		r.ValTypes()
	case formArray:
		r.field()
	case formStruct:
		for n := r.U32(); n > 0 && r.Code == OK; n-- {
			r.field()
		}
	case formCont:
		r.Leb()
	default:
		r.Fail(BadType, r.Pos-1)
	}
	m.types = Push(m.types, uint32(at))
}

//go:noinline
func (r *Reader) field() {
	r.ValType()
	r.Byte() // mutable or not
}

// Push appends; it exists so that the compiled code for that is there only once.
//
//go:noinline
func Push(s []uint32, v uint32) []uint32 { return append(s, v) }

// TypeCount returns how many types there are, the members of groups counted.
func (m *Module) TypeCount() uint32 { return uint32(len(m.types)) }

// Signature returns a reader of the parameters, and behind them the results, of a function: two vectors of value types.
//
//go:noinline
func (m *Module) Signature(f uint32) Reader {
	return Reader{Bin: m.bin, Pos: int(m.types[m.TypeOf(f)]), End: len(m.bin)}
}

// ParamCount returns how many parameters a function has.
func (m *Module) ParamCount(f uint32) uint32 {
	r := m.Signature(f)
	return r.U32()
}

// TypeOf returns the type index of a function.
//
//go:noinline
func (m *Module) TypeOf(f uint32) uint32 { return m.Funcs[f] }

// ValType returns the bytes of the value type at an offset.
//
//go:noinline
func (m *Module) ValType(at uint32) []byte {
	r := Reader{Bin: m.bin, Pos: int(at), End: len(m.bin)}
	r.ValType()
	return m.bin[at:r.Pos]
}
