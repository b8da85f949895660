package stubs

import "github.com/fiberfill/fiberfill/internal/wasm"

// AppendWaits appends a module to out and returns the extended slice: for every function import i whose marks[i] is not
// 0, a function "f<i>" of its type that calls the import wait.<i>. It is for guests whose imports wait without stubs,
// where stacks are fiberfill's own: once it has been rewritten its functions can be left, also as values in a table.
func AppendWaits(out []byte, m *wasm.Module, marks []byte) []byte {
	w := wasm.Writer{B: out}
	waits := beginPassing(&w, m, marks, "\x04wait")
	n := uint32(len(waits))

	section := w.Section(wasm.SectionExport)
	w.U32(n)
	for k, i := range waits {
		w.Numbered("f", i)
		w.Op(wasm.KindFunc, n+uint32(k))
	}
	w.Close(section)

	section = w.Section(wasm.SectionCode)
	w.U32(n)
	for k, i := range waits {
		body := w.Hole()
		w.Byte(0) // no locals
		params(&w, m.ParamCount(i))
		w.Op(wasm.OpCall, uint32(k))
		w.Byte(wasm.OpEnd)
		w.Close(body)
	}
	w.Close(section)
	return w.B
}
