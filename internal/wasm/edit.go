package wasm

// AppendExport appends to out the module with one more export, everything else untouched, and returns the extended
// slice. The name must not be exported yet, see [Module.FreeName], and the index must exist; otherwise the engine
// refuses the module. m must be of a whole module.
func (m *Module) AppendExport(out []byte, name string, kind byte, index uint32) []byte {
	from, to, section := m.ExportSection(name, kind, index)
	out = append(out, m.bin[:from]...)
	out = append(out, section...)
	return append(out, m.bin[to:]...)
}

// ExportSection returns what [Module.AppendExport] changes: section replaces the bytes from from up to, but not
// including, to. Those are the export section; if the module has none, from and to are equal. The new export is the
// last one.
func (m *Module) ExportSection(name string, kind byte, index uint32) (from, to int, section []byte) {
	w := Writer{}
	old := m.sections[SectionExport]
	from, to = m.head, m.head
	if old.End != 0 {
		from, to = m.exportsAt, old.End
	}
	entries := Reader{Bin: m.bin, Pos: old.Start, End: old.End}
	entries.U32() // how many there are
	start := w.Section(SectionExport)
	w.U32(uint32(len(m.Exports)) + 1)
	w.Bytes(m.bin[entries.Pos:old.End])
	w.Name(name)
	w.Op(kind, index)
	w.Close(start)
	return from, to, w.B
}

// FreeName returns the name if the module does not export it yet, else the name with a number that makes it free.
func (m *Module) FreeName(name string) string {
	free := name
	for n := uint32(1); m.export(free) != nil; n++ {
		w := Writer{}
		w.Numbered(name, n)
		free = string(w.B[1:]) // behind its length
	}
	return free
}

// Header returns the beginning of the binary that ends with its exports: all that has to be kept beside a compiled
// module. [Module.Growth], [Module.AppendExport] and, unless the pointer is exported, [Module.StackPointer] need the
// rest of the binary.
func (m *Module) Header() []byte { return m.bin[:m.head] }
