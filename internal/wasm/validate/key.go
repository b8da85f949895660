package validate

// AppendKey appends the type's key to out and returns the extended slice. Two types are the same if and only if their
// keys are the same bytes, wherever they have been decoded: programs that load modules one by one compare their types
// by key. A key contains each group that the type refers to once, after the groups that this group itself refers to.
func (t *Types) AppendKey(out []byte, id Heap) []byte {
	own := t.defs[id].Group
	k := keys{t: t, out: out, place: make([]int32, own+1), todo: []int32{own}}
	for len(k.todo) > 0 {
		n := k.todo[len(k.todo)-1]
		last := len(k.todo) - 1
		switch {
		case n < 0: // all that it refers to is written
			k.todo = k.todo[:last]
			k.group(^n)
		case k.place[n] != 0: // written
			k.todo = k.todo[:last]
		default:
			k.todo[last] = ^n
			k.references(n)
		}
	}
	k.number(uint32(int32(id) - t.groups[own].first))
	return k.out
}

// keys writes groups of types. It has a stack of its own, since a chain of groups may be long.
type keys struct {
	t     *Types
	out   []byte
	place []int32 // of the groups that are written: the number of the first of their types, and one
	count int32   // of the types that are written
	todo  []int32 // groups, or their complements if only they themselves are to be written
}

// references puts on the stack the groups that this one refers to, the first on top. All of them are before it, so
// there is no circle.
func (k *keys) references(n int32) {
	t, g, bottom := k.t, k.t.groups[n], len(k.todo)
	need := func(id int32) {
		if id >= 0 && t.defs[id].Group != n {
			k.todo = append(k.todo, t.defs[id].Group)
		}
	}
	value := func(v Type) {
		if v.IsRef() && v.Heap().Defined() {
			need(int32(v.Heap()))
		}
	}
	for id := g.first; id < g.first+g.size; id++ {
		d := &t.defs[id]
		need(d.Super)
		switch d.Form {
		case FormFunc:
			for _, v := range t.values[d.from:d.to] {
				value(v)
			}
		case FormCont:
			need(d.Func)
		default:
			for _, f := range t.fields[d.from:d.to] {
				value(f.Type)
			}
		}
	}
	for i, j := bottom, len(k.todo)-1; i < j; i, j = i+1, j-1 {
		k.todo[i], k.todo[j] = k.todo[j], k.todo[i]
	}
}

// group writes a group, unless it is written: it may have been on the stack twice.
func (k *keys) group(n int32) {
	if k.place[n] != 0 {
		return
	}
	g := k.t.groups[n]
	k.place[n] = k.count + 1
	k.count += g.size
	k.number(uint32(g.size))
	for id := g.first; id < g.first+g.size; id++ {
		k.def(&k.t.defs[id])
	}
}

func (k *keys) def(d *Def) {
	k.out = append(k.out, byte(d.Form), bit(d.Final))
	k.id(d.Super)
	switch d.Form {
	case FormFunc:
		k.number(uint32(d.middle - d.from))
		k.number(uint32(d.to - d.middle))
		for _, v := range k.t.values[d.from:d.to] {
			k.value(v)
		}
	case FormCont:
		k.id(d.Func)
	default:
		k.number(uint32(d.to - d.from))
		for _, f := range k.t.fields[d.from:d.to] {
			k.value(f.Type)
			k.out = append(k.out, bit(f.Mutable))
		}
	}
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// id writes a type by its number among those that are written, counted from 1; 0 stands for none.
func (k *keys) id(id int32) {
	if id < 0 {
		k.number(0)
		return
	}
	n := k.t.defs[id].Group
	k.number(uint32(k.place[n] + id - k.t.groups[n].first))
}

func (k *keys) value(t Type) {
	if t.IsRef() {
		k.out = append(k.out, 0x63+bit(!t.Nullable()))
		if h := t.Heap(); h.Defined() {
			k.out = append(k.out, 0)
			k.id(int32(h))
			return
		}
	}
	k.out = append(k.out, byte(t))
}

func (k *keys) number(v uint32) {
	for v >= 0x80 {
		k.out = append(k.out, byte(v)|0x80)
		v >>= 7
	}
	k.out = append(k.out, byte(v))
}
