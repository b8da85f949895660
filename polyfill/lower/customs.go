package lower

import "github.com/fiberfill/fiberfill/internal/wasm"

// customSections writes the guest's custom sections that are still valid. Those that refer to places in the code are
// not: debug information, source maps, branch hints. leading says whether it writes the sections that must come first,
// or the others.
func (l *lowering) customSections(leading bool) {
	for _, c := range l.m.Customs {
		name := string(l.m.Text(c.Name))
		if (name == "dylink.0" || name == "dylink") != leading {
			continue
		}
		switch {
		case placed(name):
			continue
		case name == "name":
			if names, ok := l.names(c.Contents); ok {
				l.section(wasm.SectionCustom, func(w *wasm.Writer) {
					w.Name(name)
					w.Bytes(names)
				})
			}
			continue
		}
		l.section(wasm.SectionCustom, func(w *wasm.Writer) {
			w.Name(name)
			w.Bytes(l.m.Text(c.Contents))
		})
	}
	if leading {
		return
	}
	l.section(wasm.SectionCustom, l.about)
	if l.m.ImportedFuncs > 0 {
		l.section(wasm.SectionCustom, func(w *wasm.Writer) {
			w.Name(Section + ".barriers")
			w.Bytes(l.barriers())
		})
	}
	if guards := l.guards(); guards != nil {
		l.section(wasm.SectionCustom, func(w *wasm.Writer) {
			w.Name(Section + ".guards")
			w.Bytes(guards)
		})
	}
}

// placed reports whether a custom section of this name refers to places in the code.
func placed(name string) bool {
	return has(name, ".debug_") || has(name, "metadata.code.") || has(name, "reloc.") || name == "linking" ||
		name == "sourceMappingURL"
}

func has(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }

// Subsections of the name section.
const (
	nameModule   = 0
	nameFunction = 1
	nameLocal    = 2
	nameType     = 4
	nameGlobal   = 7
	nameField    = 10
)

// names returns the name section with the indices of the output; the copies of functions that are entered again have
// their names, too. It fails if the section is malformed, which no engine minds.
func (l *lowering) names(contents wasm.Span) ([]byte, bool) {
	r := wasm.Reader{Bin: l.m.Bin, Pos: contents.Start, End: contents.End}
	var w wasm.Writer
	for r.More() {
		id := r.Byte()
		n := r.U32()
		sub := wasm.Reader{Bin: r.Bin, Pos: r.Pos, End: r.Pos + int(n)}
		r.Skip(n)
		if r.Code != wasm.OK {
			return nil, false
		}
		var part wasm.Writer
		switch id {
		case nameFunction:
			l.functionNames(&sub, &part)
		case nameGlobal:
			nameMap(&sub, &part, l.glob)
		case nameType:
			nameMap(&sub, &part, l.typ)
		case nameLocal:
			indirectNames(&sub, &part, l.fun)
		case nameField:
			indirectNames(&sub, &part, l.typ)
		case nameModule, 5, 6, 8, 9, 11: // tables, memories, segments, tags: as they were
			part.Bytes(sub.Bin[sub.Pos:sub.End])
			sub.Pos = sub.End
		default:
			continue // labels count blocks, and there are more now
		}
		if sub.Code != wasm.OK {
			return nil, false
		}
		w.Byte(id)
		w.U32(uint32(len(part.B)))
		w.Bytes(part.B)
	}
	return w.B, r.Code == wasm.OK
}

// nameMap copies names by index.
func nameMap(r *wasm.Reader, w *wasm.Writer, index func(uint32) uint32) {
	n := r.U32()
	w.U32(n)
	for ; n > 0 && r.Code == wasm.OK; n-- {
		w.U32(index(r.U32()))
		name := r.Name()
		w.U32(uint32(name.End - name.Start))
		w.Bytes(r.Bin[name.Start:name.End])
	}
}

func indirectNames(r *wasm.Reader, w *wasm.Writer, index func(uint32) uint32) {
	n := r.U32()
	w.U32(n)
	for ; n > 0 && r.Code == wasm.OK; n-- {
		w.U32(index(r.U32()))
		nameMap(r, w, func(x uint32) uint32 { return x })
	}
}

// functionNames copies the names of functions, and gives each cold copy the name of its function.
func (l *lowering) functionNames(r *wasm.Reader, w *wasm.Writer) {
	again := *r
	count := again.U32()
	names := make([]wasm.Span, len(l.m.Funcs))
	for ; count > 0 && again.Code == wasm.OK; count-- {
		f := again.U32()
		name := again.Name()
		if f < uint32(len(names)) {
			names[f] = name
		}
	}
	if again.Code != wasm.OK {
		r.Fail(again.Code, again.At)
		return
	}
	var list wasm.Writer
	n := uint32(0)
	add := func(f uint32, name wasm.Span) {
		if name.End > name.Start {
			n++
			list.U32(f)
			list.U32(uint32(name.End - name.Start))
			list.Bytes(r.Bin[name.Start:name.End])
		}
	}
	for f, name := range names {
		add(l.fun(uint32(f)), name)
	}
	for k, f := range l.made {
		if f.of > 0 {
			add(l.fun(uint32(len(l.m.Funcs)))+uint32(k), names[f.of-1])
		}
	}
	w.U32(n)
	w.Bytes(list.B)
}
