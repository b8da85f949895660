package validate

import "github.com/fiberfill/fiberfill/internal/wasm"

const (
	formGroup    = 0x4e
	formSubFinal = 0x4f
	formSub      = 0x50
)

// recursiveGroup reads one entry of the type section: a type, or a group of types that refer to each other. The
// module's types get their ids when the group is complete; until then [member] stands for them.
func (d *decoder) recursiveGroup() {
	m, r, types := d.m, &d.r, d.m.Types
	size := uint32(1)
	if r.Peek() == formGroup {
		r.Byte()
		if size = r.u32(); size > uint32(r.End-r.Pos) {
			r.Fail(wasm.Truncated, r.End)
		}
		if !d.fine() {
			return
		}
	}
	first, index := int32(types.Len()), len(m.TypeIDs)
	if uint64(first)+uint64(size) > maxTypes {
		d.fail(TooMany, r.Pos)
		return
	}
	for i := range size {
		m.TypeIDs = append(m.TypeIDs, member|Heap(i))
	}
	d.places = d.places[:0]
	for i := uint32(0); i < size && d.fine(); i++ {
		d.places = append(d.places, r.Pos)
		d.subType(i)
	}
	if d.fine() {
		known := types.intern(first)
		for i := range size {
			m.TypeIDs[index+int(i)] = Heap(known) + Heap(i)
		}
		if known != first || d.wellFormed(first) {
			return
		}
		types.groups = types.groups[:len(types.groups)-1]
		types.hashes = nil
	}
	types.forget(first)
}

// subType reads the group's i-th type and puts it behind the table.
func (d *decoder) subType(i uint32) {
	r, types := &d.r, d.m.Types
	def := Def{Final: true, Super: -1, Func: -1, Group: int32(len(types.groups))}
	if b := r.Peek(); b == formSub || b == formSubFinal {
		r.Byte()
		def.Final = b == formSubFinal
		at := r.Pos
		if n := r.u32(); n > 1 {
			d.fail(BadSupertype, at)
		} else if n == 1 {
			super := d.m.typeIndex(r)
			if super&member != 0 && uint32(super&^member) >= i {
				d.fail(BadSupertype, at)
			}
			def.Super = int32(super)
		}
	}
	at := r.Pos
	def.Form = Form(r.Byte())
	switch def.Form {
	case FormFunc:
		def.from = int32(len(types.values))
		d.values()
		def.middle = int32(len(types.values))
		d.values()
		def.to = int32(len(types.values))
	case FormStruct, FormArray:
		n := uint32(1)
		if def.Form == FormStruct {
			if n = r.u32(); n > maxFields {
				d.fail(TooMany, at)
			}
		}
		def.from = int32(len(types.fields))
		for ; n > 0 && d.fine(); n-- {
			types.fields = append(types.fields, d.field())
		}
		def.middle = def.from
		def.to = int32(len(types.fields))
	case FormCont:
		at := r.Pos
		h := d.m.heapType(r)
		if d.fine() && !h.Defined() {
			d.fail(BadType, at)
		}
		def.Func = int32(h)
	default:
		if r.Code == wasm.OK {
			d.fail(BadType, at)
		}
	}
	types.defs = append(types.defs, def)
}

// values reads parameters or results.
func (d *decoder) values() {
	at := d.r.Pos
	n := d.r.u32()
	if n > maxValues {
		d.fail(TooMany, at)
	}
	for ; n > 0 && d.fine(); n-- {
		d.m.Types.values = append(d.m.Types.values, d.m.valType(&d.r))
	}
}

func (d *decoder) field() Field {
	var f Field
	if b := Type(d.r.Peek()); b == I8 || b == I16 {
		d.r.Byte()
		f.Type = b
	} else {
		f.Type = d.m.valType(&d.r)
	}
	f.Mutable = d.flag()
	return f
}

// wellFormed reports whether the types from id first on keep the rules. They are in the table, with ids.
func (d *decoder) wellFormed(first int32) bool {
	t := d.m.Types
	t.resolve(first)
	for id := first; id < int32(len(t.defs)); id++ {
		def := &t.defs[id]
		if def.Super >= 0 {
			def.Depth = t.defs[def.Super].Depth + 1
		}
	}
	for id := first; id < int32(len(t.defs)); id++ {
		def, at := &t.defs[id], d.places[id-first]
		if def.Form == FormCont && t.defs[def.Func].Form != FormFunc {
			e := d.fail(WrongForm, at)
			e.Form, e.Got = FormFunc, RefNull(Heap(def.Func))
			return false
		}
		if def.Super < 0 {
			continue
		}
		if super := &t.defs[def.Super]; super.Final || !t.matchStructure(Heap(id), Heap(def.Super)) {
			d.fail(BadSupertype, at).Want = RefNull(Heap(def.Super))
			return false
		}
		if def.Depth > maxDepth {
			d.fail(TooMany, at)
			return false
		}
	}
	return true
}
