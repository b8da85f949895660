package validate

// member marks, in a group that is being read, a reference to the group's own type with that number. Once the group is
// in the table the id takes its place.
const member Heap = 1 << 27

// maxTypes keeps ids clear of the bits with a meaning.
const maxTypes = 1 << 26

// intern puts the group of types that has been read behind the table, from id first on, into the table, or takes it
// away again if its equal is there. It returns the id of the first of its types.
func (t *Types) intern(first int32) int32 {
	size := int32(len(t.defs)) - first
	h := t.hash(first)
	if 2*len(t.groups) >= len(t.hashes) {
		t.rehash()
	}
	mask := uint32(len(t.hashes) - 1)
	at := h & mask
	for ; t.hashes[at] != 0; at = (at + 1) & mask {
		g := t.groups[t.hashes[at]-1]
		if g.hash == h && g.size == size && t.same(g.first, first, size) {
			t.forget(first)
			return g.first
		}
	}
	t.groups = append(t.groups, group{first, size, h})
	t.hashes[at] = uint32(len(t.groups))
	return first
}

// forget takes the types from id first on away again. They are in no group.
func (t *Types) forget(first int32) {
	for i := first; i < int32(len(t.defs)); i++ {
		d := &t.defs[i]
		if d.Form == FormFunc {
			t.values = t.values[:min(int(d.from), len(t.values))]
		} else if d.Form != FormCont {
			t.fields = t.fields[:min(int(d.from), len(t.fields))]
		}
	}
	t.defs = t.defs[:first]
}

func (t *Types) rehash() {
	size := 64
	for size < 4*len(t.groups) {
		size *= 2
	}
	t.hashes = make([]uint32, size)
	mask := uint32(len(t.hashes) - 1)
	for i := range t.groups {
		at := t.groups[i].hash & mask
		for t.hashes[at] != 0 {
			at = (at + 1) & mask
		}
		t.hashes[at] = uint32(i) + 1
	}
}

// resolve replaces references to the group's own types by their ids.
func (t *Types) resolve(first int32) {
	for i := first; i < int32(len(t.defs)); i++ {
		d := &t.defs[i]
		d.Super = resolved(d.Super, first)
		switch d.Form {
		case FormFunc:
			for j := d.from; j < d.to; j++ {
				t.values[j] = t.values[j].resolved(first)
			}
		case FormCont:
			d.Func = resolved(d.Func, first)
		default:
			for j := d.from; j < d.to; j++ {
				t.fields[j].Type = t.fields[j].Type.resolved(first)
			}
		}
	}
}

func resolved(id, first int32) int32 {
	if id >= 0 && Heap(id)&member != 0 {
		return int32(Heap(id)&^member) + first
	}
	return id
}

func (t Type) resolved(first int32) Type {
	if t.IsRef() && t.Heap().Defined() && t.Heap()&member != 0 {
		return t&^Type(member) + Type(first)
	}
	return t
}

// relative is the inverse of resolved, for groups in the table.
func (g group) relative(id int32) uint32 {
	if id >= g.first && id < g.first+g.size {
		return uint32(member) | uint32(id-g.first)
	}
	return uint32(id)
}

func (g group) relativeType(t Type) uint32 {
	if t.IsRef() && t.Heap().Defined() {
		return uint32(t&(reference|nullable)) | g.relative(int32(t.Heap()))
	}
	return uint32(t)
}

// hash is that of a group that is behind the table.
func (t *Types) hash(first int32) uint32 {
	h := uint32(2166136261)
	mix := func(v uint32) { h = (h ^ v) * 16777619; h ^= h >> 15 }
	for i := first; i < int32(len(t.defs)); i++ {
		d := &t.defs[i]
		mix(uint32(d.Form))
		mix(uint32(d.Super))
		mix(uint32(d.to - d.from))
		switch d.Form {
		case FormFunc:
			mix(uint32(d.middle - d.from))
			for _, v := range t.values[d.from:d.to] {
				mix(uint32(v))
			}
		case FormCont:
			mix(uint32(d.Func))
		default:
			for _, f := range t.fields[d.from:d.to] {
				mix(uint32(f.Type))
			}
		}
	}
	return h
}

// same reports whether the group in the table from id known on is the one behind it from id first on.
func (t *Types) same(known, first, size int32) bool {
	g := group{first: known, size: size}
	for i := int32(0); i < size; i++ {
		a, b := &t.defs[known+i], &t.defs[first+i]
		if a.Form != b.Form || a.Final != b.Final || g.relative(a.Super) != uint32(b.Super) ||
			a.to-a.from != b.to-b.from || a.middle-a.from != b.middle-b.from {
			return false
		}
		switch a.Form {
		case FormFunc:
			for j := int32(0); j < a.to-a.from; j++ {
				if g.relativeType(t.values[a.from+j]) != uint32(t.values[b.from+j]) {
					return false
				}
			}
		case FormCont:
			if g.relative(a.Func) != uint32(b.Func) {
				return false
			}
		default:
			for j := int32(0); j < a.to-a.from; j++ {
				x, y := t.fields[a.from+j], t.fields[b.from+j]
				if x.Mutable != y.Mutable || g.relativeType(x.Type) != uint32(y.Type) {
					return false
				}
			}
		}
	}
	return true
}
