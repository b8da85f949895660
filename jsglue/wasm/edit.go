package wasm

// AppendExport appends to out the module with one more export, everything else untouched, and returns the extended slice.
// The name must not be exported yet, see [Module.FreeName], and the index must exist: the engine says so if not. m must be of a
// whole module.
func (m *Module) AppendExport(out []byte, name string, kind byte, index uint32) []byte {
	from, to, section := m.ExportSection(name, kind, index)
	out = append(out, m.bin[:from]...)
	out = append(out, section...)
	return append(out, m.bin[to:]...)
}

// ExportSection returns what [Module.AppendExport] changes: the bytes from, up to, not including, to, are those of the export
// section, or there is none between them, and section takes their place. The new export is the last one.
func (m *Module) ExportSection(name string, kind byte, index uint32) (from, to int, section []byte) {
	w := writer{}
	old := m.sections[secExport]
	first := old.end // of the existing entries
	r := reader{bin: m.bin, pos: len(preamble), end: len(m.bin)}
	for from = r.pos; r.more(); from = r.pos {
		id := r.byte()
		s := r.name() // a section's contents, like a name, follow their size
		if id == secExport {
			r.pos, to = s.start, s.end
			r.u32()
			first = r.pos
			break
		}
		// Only sections up to globals and tags may stand before the exports; a custom section may stand anywhere, and where
		// one may that is not known here nobody knows.
		if old.end == 0 && id > secExport && id < secTag {
			break
		}
	}
	if to == 0 {
		to = from
	}
	start := w.section(secExport)
	w.u32(uint32(len(m.Exports)) + 1)
	w.bytes(m.bin[first:old.end])
	w.name(name)
	w.op(kind, index)
	w.close(start)
	return from, to, w.b
}

// FreeName returns the name, or the name and a number, whichever the module does not export yet.
func (m *Module) FreeName(name string) string {
	free := name
	for n := uint32(1); m.export(free) != nil; n++ {
		w := writer{}
		w.numbered(name, n)
		free = string(w.b[1:]) // behind its length
	}
	return free
}

// Header returns a copy of what [Parse] reads of the binary, apart from its code: all that has to be kept beside a
// compiled module. [Module.Grows] and, of a module stripped of names, [Module.StackPointer] need the code, and
// [Module.AppendExport] the rest.
func (m *Module) Header() []byte {
	w := writer{}
	w.raw(preamble)
	for id := byte(secType); id <= secExport; id++ {
		if s := m.sections[id]; s.end != 0 && id != secTable {
			start := w.section(id)
			w.bytes(m.bin[s.start:s.end])
			w.close(start)
		}
	}
	if m.named >= 0 {
		section := w.section(secCustom)
		w.name("name")
		sub := w.section(nameGlobals)
		w.op(1, uint32(m.named))
		w.name(stackPointer)
		w.close(sub)
		w.close(section)
	}
	return w.b
}
