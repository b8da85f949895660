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

// readTypes reads one entry of the type section. A group counts as one entry there and as all its members in the index space.
//
//go:noinline
func (m *Module) readTypes(r *reader) {
	form := r.byte()
	if form != formRec {
		m.subType(r, form)
		return
	}
	for n := r.u32(); n > 0 && r.code == OK; n-- {
		m.subType(r, r.byte())
	}
}

//go:noinline
func (m *Module) subType(r *reader, form byte) {
	if form == formSub || form == formSubFinal {
		for n := r.u32(); n > 0 && r.code == OK; n-- {
			r.u32() // a super type
		}
		form = r.byte()
	}
	if form == formShared {
		form = r.byte()
	}
	at := 0
	switch form {
	case formFunc:
		at = r.pos
		r.valTypes()
		r.valTypes()
	case formArray:
		r.field()
	case formStruct:
		for n := r.u32(); n > 0 && r.code == OK; n-- {
			r.field()
		}
	case formCont:
		r.leb()
	default:
		r.fail(BadType, r.pos-1)
	}
	m.types = push(m.types, uint32(at))
}

//go:noinline
func (r *reader) field() {
	r.valType()
	r.byte() // mutable or not
}

// push appends; one copy of what the compiler makes of that is enough.
//
//go:noinline
func push(s []uint32, v uint32) []uint32 { return append(s, v) }
