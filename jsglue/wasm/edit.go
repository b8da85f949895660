package wasm

// AppendExport appends to out the module with one more export, everything else untouched, and returns the extended slice.
// The name must not be exported yet and the index must exist: the engine says so if not. m must be of a whole module.
func (m *Module) AppendExport(out []byte, name string, kind byte, index uint32) []byte {
	w := writer{out}
	old := m.sections[secExport]
	first := old.end // of the existing entries
	from, to := 0, 0 // what is replaced: the old section with its id and size
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
		// Only sections up to globals and tags may stand before the exports; a custom section may stand anywhere.
		if id > secExport && id != secTag {
			break
		}
	}
	if to == 0 {
		to = from
	}
	w.bytes(m.bin[:from])
	section := w.section(secExport)
	w.u32(uint32(len(m.Exports)) + 1)
	w.bytes(m.bin[first:old.end])
	w.name(name)
	w.op(kind, index)
	w.close(section)
	w.bytes(m.bin[to:])
	return w.b
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
