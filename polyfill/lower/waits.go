package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// Waits returns a module for the imports of a guest that wait: those with a 1 among the marks, which are as in
// [Options]. It is the second front end, and all of it: imports that wait are functions with a suspend in them. For
// import i of type T, the module exports under the name i
//
//	(func (type T)
//	  (if (i32.eqz (call $can)) (then (call $refuse)))    ;; throws
//	  (if (call $begin.i <each parameter>) (then (suspend $wait)))
//	  (call $end.i))                                      ;; what the wait has brought: its results, or an exception
//
// The host provides, from "host", the functions can and refuse and the tag wait, and from "begin" and "end" the two
// halves of each import. begin answers 1 for a wait, and 0 if end has the answer already. The module itself has to be
// lowered, like the guest.
func Waits(bin []byte, marks []byte) ([]byte, *validate.Error) {
	m, err := validate.Decode(bin, nil)
	if err != nil {
		return nil, err
	}
	v := &waitsModule{m: m, t: m.Types}
	for i := 0; i < m.ImportedFuncs && i < len(marks); i++ {
		if marks[i] == 1 {
			v.waits = append(v.waits, uint32(i))
		}
	}
	return v.write(), nil
}

type waitsModule struct {
	m     *validate.Module
	t     *validate.Types
	waits []uint32 // the imports, by their numbers among the functions
}

// Its first functions, all imported, and its own first types, behind the guest's.
const (
	waitsCan = iota
	waitsRefuse
	waitsFixed // how many there are

	typeAsk  = 0 // [] -> [i32]
	typeTell = 1 // [] -> []
	typeEach = 2 // then for each import the types of its two halves
)

func (v *waitsModule) write() []byte {
	w := &wasm.Writer{}
	types := uint32(len(v.m.TypeIDs))
	n := uint32(len(v.waits))
	section := func(id byte, contents func()) {
		at := w.Section(id)
		contents()
		w.Close(at)
	}
	w.Raw(wasm.Preamble)
	section(wasm.SectionType, func() { v.types(w) })
	section(wasm.SectionImport, func() {
		function := func(module, prefix string, i, t uint32) {
			w.Name(module)
			w.Numbered(prefix, i)
			w.Op(wasm.KindFunc, t)
		}
		w.U32(waitsFixed + 1 + 2*n)
		w.Name("host")
		w.Name("can")
		w.Op(wasm.KindFunc, types+typeAsk)
		w.Name("host")
		w.Name("refuse")
		w.Op(wasm.KindFunc, types+typeTell)
		for k, i := range v.waits {
			function("begin", "", i, types+typeEach+2*uint32(k))
			function("end", "", i, types+typeEach+2*uint32(k)+1)
		}
		w.Name("host")
		w.Name("wait")
		w.Byte(wasm.KindTag)
		w.Byte(0)
		w.U32(types + typeTell)
	})
	section(wasm.SectionFunc, func() {
		w.U32(n)
		for _, i := range v.waits {
			w.U32(v.m.Funcs[i].Decl)
		}
	})
	section(wasm.SectionExport, func() {
		w.U32(n)
		for k, i := range v.waits {
			w.Numbered("", i)
			w.Op(wasm.KindFunc, waitsFixed+2*n+uint32(k))
		}
	})
	section(wasm.SectionCode, func() {
		w.U32(n)
		for k, i := range v.waits {
			body := w.Hole()
			w.Byte(0)
			w.Op(wasm.OpCall, waitsCan)
			w.Raw("\x45\x04\x40") // i32.eqz if
			w.Op(wasm.OpCall, waitsRefuse)
			w.Byte(wasm.OpEnd)
			for p := range v.m.Params(i) {
				w.Op(wasm.OpLocalGet, uint32(p))
			}
			w.Op(wasm.OpCall, waitsFixed+2*uint32(k))
			w.Raw("\x04\x40\xe2\x00\x0b") // if suspend 0 end
			w.Op(wasm.OpCall, waitsFixed+2*uint32(k)+1)
			w.Byte(wasm.OpEnd)
			w.Close(body)
		}
	})
	return w.B
}

func (v *waitsModule) types(w *wasm.Writer) {
	n := uint32(0)
	var r wasm.Reader
	for _, s := range v.m.Sections {
		if s.ID == wasm.SectionType {
			r = wasm.Reader{Bin: v.m.Bin, Pos: s.Contents.Start, End: s.Contents.End}
			n = r.U32()
		}
	}
	w.U32(n + typeEach + 2*uint32(len(v.waits)))
	if n > 0 {
		w.Bytes(r.Bin[r.Pos:r.End])
	}
	w.Raw("\x60\x00\x01\x7f" + "\x60\x00\x00")
	for _, i := range v.waits {
		w.Byte(0x60)
		v.values(w, v.m.Params(i))
		w.Raw("\x01\x7f")
		w.Raw("\x60\x00")
		v.values(w, v.m.Results(i))
	}
}

func (v *waitsModule) values(w *wasm.Writer, list []validate.Type) {
	w.U32(uint32(len(list)))
	for _, t := range list {
		switch {
		case !t.IsRef():
			w.Byte(byte(t))
			continue
		case t.Nullable():
			w.Byte(0x63)
		default:
			w.Byte(0x64)
		}
		if h := t.Heap(); h.Defined() {
			w.S32(v.index(h))
		} else {
			w.Byte(h.Byte())
		}
	}
}

// index returns the index of a type of the guest's.
func (v *waitsModule) index(h validate.Heap) uint32 {
	for i, id := range v.m.TypeIDs {
		if id == h {
			return uint32(i)
		}
	}
	panic("a type of the module has no index")
}
