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
	first := old.End // of the existing entries
	r := Reader{Bin: m.bin, Pos: len(Preamble), End: len(m.bin)}
	for from = r.Pos; r.More(); from = r.Pos {
		id := r.Byte()
		s := r.Name() // a section's contents, like a name, follow their size
		if id == SectionExport {
			r.Pos, to = s.Start, s.End
			r.U32()
			first = r.Pos
			break
		}
		// Only sections up to globals and tags may stand before the exports; a custom section may stand anywhere, and
		// where one may that is not known here nobody knows.
		if old.End == 0 && id > SectionExport && id < SectionTag {
			break
		}
	}
	if to == 0 {
		to = from
	}
	start := w.Section(SectionExport)
	w.U32(uint32(len(m.Exports)) + 1)
	w.Bytes(m.bin[first:old.End])
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

// Header returns a copy of what [Parse] reads of the binary, apart from its code: all that has to be kept beside a
// compiled module. [Module.Growth] and, of a module stripped of names, [Module.StackPointer] need the code, and
// [Module.AppendExport] the rest.
func (m *Module) Header() []byte {
	w := Writer{}
	w.Raw(Preamble)
	for id := byte(SectionType); id <= SectionExport; id++ {
		if s := m.sections[id]; s.End != 0 && id != SectionTable {
			start := w.Section(id)
			w.Bytes(m.bin[s.Start:s.End])
			w.Close(start)
		}
	}
	if m.named >= 0 {
		section := w.Section(SectionCustom)
		w.Name("name")
		sub := w.Section(nameGlobals)
		w.Op(1, uint32(m.named))
		w.Name(stackPointer)
		w.Close(sub)
		w.Close(section)
	}
	return w.B
}
