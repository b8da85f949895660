package lower

import "github.com/fiberfill/fiberfill/internal/wasm"

// hiddenImports writes what a lowered module imports after the guest's own imports: what the driver imports, an
// identity for each tag, and the registers.
func (l *lowering) hiddenImports(w *wasm.Writer) {
	l.driverImports(w)
	l.waitImports(w)
	for k := range l.m.Tags {
		w.Name(Namespace)
		w.Numbered("tag.", uint32(k))
		w.Byte(wasm.KindGlobal)
		w.Byte(0x64)
		w.S32(typeTag)
		w.Byte(fixed)
	}
	for c, n := range l.registers {
		for k := uint32(0); k < n; k++ {
			w.Name(Namespace)
			w.Numbered(classNames[c]+".", k)
			w.Byte(wasm.KindGlobal)
			w.Raw(classTypes[c])
			w.Byte(mut)
		}
	}
}

// hiddenCount returns how many imports these are.
func (l *lowering) hiddenCount() uint32 { return driverFuncs + l.waitFuncs() + l.hiddenGlobals }

// addGlobal adds a global, given as its type and the initial value in the binary format, and returns its index; if it
// is to be shared, one with the same contents will do.
func (l *lowering) addGlobal(global string, shared bool) uint32 {
	first := l.glob(uint32(len(l.m.Globals)))
	for i, g := range l.globals {
		if shared && g == global {
			return first + uint32(i)
		}
	}
	l.globals = append(l.globals, global)
	return first + uint32(len(l.globals)-1)
}

// tagList returns the global with a list of tags.
func (l *lowering) tagList(tags []uint32) uint32 {
	var w wasm.Writer
	w.Byte(0x64)
	w.S32(typeTags)
	w.Byte(fixed)
	for _, tag := range tags {
		w.Op(wasm.OpGlobalGet, l.tag(tag))
	}
	w.Raw("\xfb\x08") // array.new_fixed
	w.U32(typeTags)
	w.U32(uint32(len(tags)))
	w.Byte(wasm.OpEnd)
	return l.addGlobal(string(w.B), true)
}

// ownTag returns the index of a tag without parameters.
func (l *lowering) ownTag() uint32 {
	l.needTag = true
	return uint32(len(l.m.Tags))
}
