package validate

import "github.com/fiberfill/fiberfill/internal/wasm"

// What the sections contain, entry by entry.

// Limits of all engines, within which a module must keep for the work on each instruction to be bounded.
const (
	maxValues = 1000   // parameters, and results
	maxFields = 10_000 // of a structure
	maxFixed  = 10_000 // operands of array.new_fixed
	maxDepth  = 63     // of supertypes
)

func (d *decoder) importEntry() {
	m, r := d.m, &d.r
	i := Import{Module: d.name(), Name: d.name()}
	at := r.Pos
	i.Kind = r.Byte()
	switch i.Kind {
	case wasm.KindFunc:
		i.Index = uint32(len(m.Funcs))
		d.function()
		m.ImportedFuncs++
	case wasm.KindTable:
		i.Index = uint32(len(m.Tables))
		m.Tables = append(m.Tables, d.tableType())
		m.ImportedTables++
	case wasm.KindMemory:
		i.Index = uint32(len(m.Memories))
		d.memory()
		m.ImportedMemories++
	case wasm.KindGlobal:
		i.Index = uint32(len(m.Globals))
		m.Globals = append(m.Globals, Global{Type: m.valType(r), Mutable: d.flag()})
		m.ImportedGlobals++
	case wasm.KindTag:
		i.Index = uint32(len(m.Tags))
		d.tag()
		m.ImportedTags++
	default:
		d.fail(BadFlags, at)
	}
	m.Imports = append(m.Imports, i)
}

// functionType reads the index of a function type.
func (d *decoder) functionType() (index uint32, id Heap) {
	at := d.r.Pos
	index = d.r.u32()
	id = d.m.typeID(&d.r, index, at)
	if d.fine() && d.m.Types.defs[id].Form != FormFunc {
		e := d.fail(WrongForm, at)
		e.Index, e.Form = index, FormFunc
	}
	return index, id
}

func (d *decoder) function() {
	index, id := d.functionType()
	d.m.Funcs = append(d.m.Funcs, Func{Type: id, Decl: index})
}

func (d *decoder) tag() {
	at := d.r.Pos
	if d.r.Byte() != 0 {
		d.fail(BadFlags, at)
	}
	index, id := d.functionType()
	d.m.Tags = append(d.m.Tags, Tag{Type: id, Decl: index})
}

// limits reads the limits of a memory, or of a table.
func (d *decoder) limits(memory bool) Limits {
	r, at := &d.r, d.r.Pos
	flags := r.Byte()
	if flags > 7 || flags&2 != 0 && !memory {
		d.fail(BadFlags, at)
	}
	l := Limits{HasMax: flags&1 != 0, Shared: flags&2 != 0, Is64: flags&4 != 0}
	l.Min = r.u64()
	if l.HasMax {
		l.Max = r.u64()
	}
	most := uint64(1<<32 - 1)
	switch {
	case memory && l.Is64:
		most = 1 << 48
	case memory:
		most = 1 << 16
	case l.Is64:
		most = 1<<64 - 1
	}
	if d.fine() && (l.Min > most || l.HasMax && (l.Max > most || l.Min > l.Max) || l.Shared && !l.HasMax) {
		d.fail(BadLimits, at)
	}
	return l
}

func (d *decoder) memory() {
	d.m.Memories = append(d.m.Memories, Memory{d.limits(true)})
}

func (d *decoder) tableType() Table {
	t := d.m.refType(&d.r)
	return Table{Type: t, Limits: d.limits(false)}
}

func (d *decoder) table() {
	at := d.r.Pos
	if d.r.Peek() != 0x40 {
		t := d.tableType()
		if d.fine() && !t.Type.Defaultable() {
			d.fail(NoDefault, at).Got = t.Type
		}
		d.m.Tables = append(d.m.Tables, t)
		return
	}
	d.r.Byte()
	if d.r.Byte() != 0 {
		d.fail(BadFlags, at+1)
	}
	t := d.tableType()
	t.Init = d.constExpr(t.Type, d.m.ImportedGlobals)
	d.m.Tables = append(d.m.Tables, t)
}

func (d *decoder) global() {
	g := Global{Type: d.m.valType(&d.r), Mutable: d.flag()}
	g.Init = d.constExpr(g.Type, len(d.m.Globals))
	d.m.Globals = append(d.m.Globals, g)
}

func (d *decoder) export() {
	m := d.m
	e := Export{Name: d.name()}
	at := d.r.Pos
	e.Kind = d.r.Byte()
	e.Index = d.r.u32()
	code, count := UnknownFunction, len(m.Funcs)
	switch e.Kind {
	case wasm.KindFunc:
	case wasm.KindTable:
		code, count = UnknownTable, len(m.Tables)
	case wasm.KindMemory:
		code, count = UnknownMemory, len(m.Memories)
	case wasm.KindGlobal:
		code, count = UnknownGlobal, len(m.Globals)
	case wasm.KindTag:
		code, count = UnknownTag, len(m.Tags)
	default:
		d.fail(BadFlags, at)
		return
	}
	if e.Index >= uint32(count) {
		d.fail(code, at).Index = e.Index
		return
	}
	if e.Kind == wasm.KindFunc {
		m.declare(e.Index)
	}
	m.Exports = append(m.Exports, e)
}

// uniqueExports fails if two exports have the same name.
func (d *decoder) uniqueExports() {
	exports := d.m.Exports
	size := 16
	for size < 2*len(exports) {
		size *= 2
	}
	table := make([]uint32, size) // with open addressing, of export + 1
	for i := range exports {
		name := d.m.Text(exports[i].Name)
		h := uint32(2166136261)
		for _, c := range name {
			h = (h ^ uint32(c)) * 16777619
		}
		at := h & uint32(size-1)
		for ; table[at] != 0; at = (at + 1) & uint32(size-1) {
			if string(d.m.Text(exports[table[at]-1].Name)) == string(name) {
				d.fail(DuplicateExport, exports[i].Name.Start).Index = uint32(i)
				return
			}
		}
		table[at] = uint32(i) + 1
	}
}

func (d *decoder) element() {
	m, r := d.m, &d.r
	e := Element{At: r.Pos, Type: RefNull(HeapFunc)}
	flags := r.u32()
	if flags > 7 {
		d.fail(BadFlags, e.At)
		return
	}
	// Bit 0: not active; bit 1: of a given table, or declarative; bit 2: expressions.
	if flags&1 == 0 {
		at := r.Pos
		if flags&2 != 0 {
			e.Table = r.u32()
		}
		if e.Table >= uint32(len(m.Tables)) {
			d.fail(UnknownTable, at).Index = e.Table
			return
		}
		e.Offset = d.constExpr(m.Tables[e.Table].address(), len(m.Globals))
	} else {
		e.Mode = Passive + Mode(flags>>1&1)
	}
	e.Exprs = flags&4 != 0
	switch at := r.Pos; {
	case flags&3 == 0 && !e.Exprs:
		e.Type = Ref(HeapFunc)
	case flags&3 == 0:
	case e.Exprs:
		e.Type = m.refType(r)
	default:
		e.Type = Ref(HeapFunc)
		if r.Byte() != 0 {
			d.fail(BadFlags, at)
		}
	}
	if d.fine() && e.Mode == Active && !m.Types.Match(e.Type, m.Tables[e.Table].Type) {
		err := d.fail(TypeMismatch, e.At)
		err.Want, err.Got = m.Tables[e.Table].Type, e.Type
	}
	e.Count = r.u32()
	e.Items.Start = r.Pos
	for n := e.Count; n > 0 && d.fine(); n-- {
		if e.Exprs {
			d.constExpr(e.Type, len(m.Globals))
			continue
		}
		at := r.Pos
		if f := r.u32(); f < uint32(len(m.Funcs)) {
			m.declare(f)
		} else {
			d.fail(UnknownFunction, at).Index = f
		}
	}
	e.Items.End = r.Pos
	m.Elements = append(m.Elements, e)
}

func (d *decoder) data() {
	m, r := d.m, &d.r
	s := Data{At: r.Pos}
	flags := r.u32()
	if flags > 2 {
		d.fail(BadFlags, s.At)
		return
	}
	if flags == 1 {
		s.Mode = Passive
	} else {
		at := r.Pos
		if flags == 2 {
			s.Memory = r.u32()
		}
		if s.Memory >= uint32(len(m.Memories)) {
			d.fail(UnknownMemory, at).Index = s.Memory
			return
		}
		s.Offset = d.constExpr(m.Memories[s.Memory].address(), len(m.Globals))
	}
	s.Bytes = r.Name()
	m.Data = append(m.Data, s)
}
