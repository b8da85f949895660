package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// write puts the module together.
func (l *lowering) write(bodies [][]byte) {
	size := 2 * len(l.m.Bin)
	for _, b := range bodies {
		size += len(b) + 5
	}
	for _, f := range l.made {
		size += len(f.body) + 5
	}
	w := &l.out
	w.B = make([]byte, 0, size)
	w.Raw(wasm.Preamble)
	l.customSections(true)
	tags := l.tagTypes()
	l.section(wasm.SectionType, l.typeSection)
	l.section(wasm.SectionImport, func(w *wasm.Writer) { l.importSection(w, tags) })
	l.section(wasm.SectionFunc, l.funcSection)
	l.again(wasm.SectionTable, l.tableSection)
	l.again(wasm.SectionMemory, nil)
	if len(l.m.Tags) > l.m.ImportedTags || l.needTag {
		l.section(wasm.SectionTag, func(w *wasm.Writer) { l.tagSection(w, tags) })
	}
	if len(l.m.Globals) > l.m.ImportedGlobals || len(l.globals) > 0 {
		l.section(wasm.SectionGlobal, l.globalSection)
	}
	l.again(wasm.SectionExport, l.exportSection)
	l.again(wasm.SectionStart, func(r *wasm.Reader, w *wasm.Writer) { w.U32(l.fun(r.U32())) })
	l.section(wasm.SectionElem, l.elemSection)
	l.again(sectionDataCount, nil)
	l.section(wasm.SectionCode, func(w *wasm.Writer) { l.codeSection(w, bodies) })
	l.again(wasm.SectionData, l.dataSection)
	l.customSections(false)
}

const sectionDataCount = 12

// section writes a section.
func (l *lowering) section(id byte, contents func(*wasm.Writer)) {
	at := l.out.Section(id)
	contents(&l.out)
	l.out.Close(at)
}

// again writes a section that the guest has: by contents, or with its bytes unchanged if contents is nil.
func (l *lowering) again(id byte, contents func(*wasm.Reader, *wasm.Writer)) {
	r, ok := l.guest(id)
	if !ok {
		return
	}
	l.section(id, func(w *wasm.Writer) {
		if contents == nil {
			w.Bytes(r.Bin[r.Pos:r.End])
			return
		}
		contents(&r, w)
	})
}

// guest returns a reader of one of the guest's sections, if it has it.
func (l *lowering) guest(id byte) (wasm.Reader, bool) {
	for _, s := range l.m.Sections {
		if s.ID == id {
			return wasm.Reader{Bin: l.m.Bin, Pos: s.Contents.Start, End: s.Contents.End}, true
		}
	}
	return wasm.Reader{}, false
}

func (l *lowering) typeSection(w *wasm.Writer) {
	r, ok := l.guest(wasm.SectionType)
	n := uint32(0)
	if ok {
		n = r.U32()
	}
	w.U32(1 + n + uint32(len(l.types.keys)))
	w.Raw(baseGroup)
	for ; n > 0; n-- {
		if r.Peek() != 0x4e {
			l.subType(&r, w)
			continue
		}
		w.Byte(r.Byte())
		k := r.U32()
		w.U32(k)
		for ; k > 0; k-- {
			l.subType(&r, w)
		}
	}
	for _, t := range l.types.keys {
		w.Raw(t)
	}
}

// subType copies a type; a continuation becomes a structure, with the function type for a brand.
func (l *lowering) subType(r *wasm.Reader, w *wasm.Writer) {
	kind := byte(final)
	var supers []uint32
	declared := r.Peek() == final || r.Peek() == open
	if declared {
		kind = r.Byte()
		for n := r.U32(); n > 0; n-- {
			supers = append(supers, l.typ(r.U32()))
		}
	}
	form := r.Byte()
	if form == byte(validate.FormCont) {
		declared = true
		if len(supers) == 0 {
			supers = append(supers, typeCont)
		}
	}
	if declared {
		w.Byte(kind)
		w.U32(uint32(len(supers)))
		for _, s := range supers {
			w.U32(s)
		}
	}
	if form == byte(validate.FormCont) {
		w.Raw("\x5f\x02\x63\x04\x01\x63")
		w.S32(l.typ(r.Leb()))
		w.Byte(fixed)
		return
	}
	w.Byte(form)
	switch validate.Form(form) {
	case validate.FormFunc:
		l.copyValues(r, w)
		l.copyValues(r, w)
	case validate.FormArray:
		l.copyField(r, w)
	default:
		n := r.U32()
		w.U32(n)
		for ; n > 0; n-- {
			l.copyField(r, w)
		}
	}
}

func (l *lowering) copyValues(r *wasm.Reader, w *wasm.Writer) {
	n := r.U32()
	w.U32(n)
	for ; n > 0; n-- {
		l.copyValue(r, w)
	}
}

func (l *lowering) copyField(r *wasm.Reader, w *wasm.Writer) {
	l.copyValue(r, w)
	w.Byte(r.Byte())
}

// tagTypes returns the type index of each tag. Engines know no tags with results: they are left out.
func (l *lowering) tagTypes() []uint32 {
	list := make([]uint32, len(l.m.Tags))
	for i, tag := range l.m.Tags {
		list[i] = l.typ(tag.Decl)
		if len(l.t.Results(tag.Type)) > 0 {
			list[i] = l.funcType(l.t.Params(tag.Type), nil)
		}
	}
	if l.needTag {
		list = append(list, l.funcType(nil, nil))
	}
	return list
}

func (l *lowering) importSection(w *wasm.Writer, tags []uint32) {
	r, ok := l.guest(wasm.SectionImport)
	n := uint32(0)
	if ok {
		n = r.U32()
	}
	w.U32(n + l.hiddenCount())
	for tag := 0; n > 0; n-- {
		l.copyName(&r, w)
		l.copyName(&r, w)
		kind := r.Byte()
		w.Byte(kind)
		switch kind {
		case wasm.KindFunc:
			w.U32(l.typ(r.U32()))
		case wasm.KindTable:
			l.copyValue(&r, w)
			copyLimits(&r, w)
		case wasm.KindMemory:
			copyLimits(&r, w)
		case wasm.KindGlobal:
			l.copyField(&r, w)
		case wasm.KindTag:
			w.Byte(r.Byte())
			r.U32()
			w.U32(tags[tag])
			tag++
		}
	}
	l.hiddenImports(w)
}

func (l *lowering) copyName(r *wasm.Reader, w *wasm.Writer) {
	s := r.Name()
	w.U32(uint32(s.End - s.Start))
	w.Bytes(r.Bin[s.Start:s.End])
}

func copyLimits(r *wasm.Reader, w *wasm.Writer) {
	at := r.Pos
	flags := r.Byte()
	r.Leb()
	if flags&1 != 0 {
		r.Leb()
	}
	if flags&8 != 0 {
		r.Leb()
	}
	w.Bytes(r.Bin[at:r.Pos])
}

func (l *lowering) funcSection(w *wasm.Writer) {
	own := l.m.Funcs[l.m.ImportedFuncs:]
	w.U32(uint32(len(own) + len(l.made)))
	for _, f := range own {
		w.U32(l.typ(f.Decl))
	}
	for _, f := range l.made {
		w.U32(f.typ)
	}
}

func (l *lowering) tableSection(r *wasm.Reader, w *wasm.Writer) {
	n := r.U32()
	w.U32(n)
	for ; n > 0; n-- {
		init := r.Peek() == 0x40
		if init {
			w.Byte(r.Byte())
			w.Byte(r.Byte())
		}
		l.copyValue(r, w)
		copyLimits(r, w)
		if init {
			l.copyExpr(r, w)
		}
	}
}

func (l *lowering) tagSection(w *wasm.Writer, tags []uint32) {
	own := tags[l.m.ImportedTags:]
	w.U32(uint32(len(own)))
	for _, t := range own {
		w.Byte(0)
		w.U32(t)
	}
}

func (l *lowering) globalSection(w *wasm.Writer) {
	r, ok := l.guest(wasm.SectionGlobal)
	n := uint32(0)
	if ok {
		n = r.U32()
	}
	w.U32(n + uint32(len(l.globals)))
	for ; n > 0; n-- {
		l.copyField(&r, w)
		l.copyExpr(&r, w)
	}
	for _, g := range l.globals {
		w.Raw(g)
	}
}

func (l *lowering) exportSection(r *wasm.Reader, w *wasm.Writer) {
	n := r.U32()
	w.U32(n)
	for ; n > 0; n-- {
		l.copyName(r, w)
		kind := r.Byte()
		w.Byte(kind)
		x := r.U32()
		switch kind {
		case wasm.KindFunc:
			x = l.fun(x)
		case wasm.KindGlobal:
			x = l.glob(x)
		}
		w.U32(x)
	}
}

// elemSection copies the segments, and adds one that declares the functions that the rewriter takes references to.
func (l *lowering) elemSection(w *wasm.Writer) {
	r, ok := l.guest(wasm.SectionElem)
	n := uint32(0)
	if ok {
		n = r.U32()
	}
	w.U32(n + 1)
	for ; n > 0; n-- {
		l.segment(&r, w)
	}
	w.Raw("\x03\x00") // declarative, functions
	w.U32(uint32(len(l.made)))
	for k := range l.made {
		w.U32(l.fun(uint32(len(l.m.Funcs))) + uint32(k))
	}
}

func (l *lowering) segment(r *wasm.Reader, w *wasm.Writer) {
	flags := r.U32()
	w.U32(flags)
	if flags&1 == 0 { // active
		if flags&2 != 0 {
			w.U32(r.U32()) // table
		}
		l.copyExpr(r, w)
	}
	exprs := flags&4 != 0
	if flags&3 != 0 {
		if exprs {
			l.copyValue(r, w)
		} else {
			w.Byte(r.Byte())
		}
	}
	n := r.U32()
	w.U32(n)
	for ; n > 0; n-- {
		if exprs {
			l.copyExpr(r, w)
		} else {
			w.U32(l.fun(r.U32()))
		}
	}
}

func (l *lowering) codeSection(w *wasm.Writer, bodies [][]byte) {
	w.U32(uint32(len(bodies) + len(l.made)))
	for _, b := range bodies {
		w.U32(uint32(len(b)))
		w.Bytes(b)
	}
	for _, f := range l.made {
		w.U32(uint32(len(f.body)))
		w.Bytes(f.body)
	}
}

func (l *lowering) dataSection(r *wasm.Reader, w *wasm.Writer) {
	n := r.U32()
	w.U32(n)
	for ; n > 0; n-- {
		flags := r.U32()
		w.U32(flags)
		if flags == 2 {
			w.U32(r.U32()) // memory
		}
		if flags != 1 {
			l.copyExpr(r, w)
		}
		l.copyName(r, w) // bytes have the form of a name
	}
}

// copyExpr copies a constant expression.
func (l *lowering) copyExpr(r *wasm.Reader, w *wasm.Writer) {
	for {
		at := r.Pos
		op := uint32(r.Byte())
		if op >= wasm.PrefixGC && op <= wasm.PrefixAtomic {
			op = op<<12 | r.U32()
		}
		switch op {
		case wasm.OpI32Const, wasm.OpI64Const:
			r.Leb()
		case wasm.OpF32Const:
			r.Skip(4)
		case wasm.OpF64Const:
			r.Skip(8)
		case wasm.OpV128Const:
			r.Skip(16)
		}
		w.Bytes(r.Bin[at:r.Pos])
		switch op {
		case wasm.OpEnd:
			return
		case wasm.OpGlobalGet:
			w.U32(l.glob(r.U32()))
		case wasm.OpRefFunc:
			w.U32(l.fun(r.U32()))
		case wasm.OpRefNull:
			l.copyHeap(r, w)
		case wasm.OpStructNew, wasm.OpStructNewDefault, wasm.OpArrayNew, wasm.OpArrayNewDefault:
			w.U32(l.typ(r.U32()))
		case wasm.OpArrayNewFixed:
			w.U32(l.typ(r.U32()))
			w.U32(r.U32())
		}
	}
}
