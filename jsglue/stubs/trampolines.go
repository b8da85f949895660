package stubs

import "github.com/fiberfill/fiberfill/internal/wasm"

// AppendTrampolines appends module A to out and returns the extended slice: for every function import i whose marks[i]
// is not 0 a slot "s<i>" and a function "f<i>" that calls what is in the slot: at first the import start.<i>. Imports
// beyond the marks count as 0. Without tail the call is a plain one, for an engine that cannot suspend a stack with a
// tail call from one instance to another on it.
//
// Why: RATIONALE.md, "Why are there trampolines and stubs?".
func AppendTrampolines(out []byte, m *wasm.Module, marks []byte, tail bool) []byte {
	w := wasm.Writer{B: out}
	waits := beginPassing(&w, m, marks, "\x05start")
	n := uint32(len(waits))

	section := w.Section(wasm.SectionGlobal)
	w.U32(n)
	for k, i := range waits {
		w.RefNull(m.TypeOf(i))
		w.Byte(1) // mutable
		w.Op(wasm.OpRefFunc, uint32(k))
		w.Byte(wasm.OpEnd)
	}
	w.Close(section)

	section = w.Section(wasm.SectionExport)
	w.U32(2 * n)
	for k, i := range waits {
		w.Numbered("s", i)
		w.Op(wasm.KindGlobal, uint32(k))
		w.Numbered("f", i)
		w.Op(wasm.KindFunc, n+uint32(k))
	}
	w.Close(section)

	call := byte(wasm.OpCallRef)
	if tail {
		call = wasm.OpReturnCallRef
	}
	section = w.Section(wasm.SectionCode)
	w.U32(n)
	for k, i := range waits {
		body := w.Hole()
		w.Byte(0) // no locals
		params(&w, m.ParamCount(i))
		w.Op(wasm.OpGlobalGet, uint32(k))
		w.Op(call, m.TypeOf(i))
		w.Byte(wasm.OpEnd)
		w.Close(body)
	}
	w.Close(section)
	return w.B
}

// beginPassing writes what a module begins with whose functions pass calls of the marked imports on: the guest's types;
// an import from.<i> for each, of the same type, where from is the module's name with its length before it; and that
// there is a function for each. Returns the indices of the imports.
func beginPassing(w *wasm.Writer, m *wasm.Module, marks []byte, from string) []uint32 {
	waits := waiting(m, marks)
	section, count := m.BeginTypes(w)
	m.EndTypes(w, section, count, 0)

	section = w.Section(wasm.SectionImport)
	w.U32(uint32(len(waits)))
	for _, i := range waits {
		w.Raw(from)
		w.Numbered("", i)
		w.Op(wasm.KindFunc, m.TypeOf(i))
	}
	w.Close(section)

	section = w.Section(wasm.SectionFunc)
	w.U32(uint32(len(waits)))
	for _, i := range waits {
		w.U32(m.TypeOf(i))
	}
	w.Close(section)
	return waits
}

// params writes the instructions that push all parameters.
//
//go:noinline
func params(w *wasm.Writer, n uint32) {
	for p := uint32(0); p < n; p++ {
		w.Op(wasm.OpLocalGet, p)
	}
}

// waiting returns the indices of the function imports that are marked as such that may wait.
//
//go:noinline
func waiting(m *wasm.Module, marks []byte) []uint32 {
	var waits []uint32
	for i := 0; i < m.Imported && i < len(marks); i++ {
		if marks[i] != 0 {
			waits = wasm.Push(waits, uint32(i))
		}
	}
	return waits
}
