package wasm

// AppendTrampolines appends module A to out and returns the extended slice: for every function import i whose marks[i] is
// not 0 a slot "s<i>" and a function "f<i>" that calls what is in the slot: at first the import start.<i>. Imports beyond the
// marks count as 0. Without tail the call is a plain one, for an engine that cannot suspend a stack with a tail call from one
// instance to another on it.
func (m *Module) AppendTrampolines(out []byte, marks []byte, tail bool) []byte {
	w := writer{out}
	waits := m.waiting(marks)
	n := uint32(len(waits))
	section, count := m.begin(&w)
	m.endTypes(&w, section, count, 0)

	section = w.section(secImport)
	w.u32(n)
	for _, i := range waits {
		w.raw("\x05start")
		w.numbered("", i)
		w.op(KindFunc, m.typeOf(i))
	}
	w.close(section)

	section = w.section(secFunc)
	w.u32(n)
	for _, i := range waits {
		w.u32(m.typeOf(i))
	}
	w.close(section)

	section = w.section(secGlobal)
	w.u32(n)
	for k, i := range waits {
		w.refNull(m.typeOf(i))
		w.byte(1) // mutable
		w.op(opRefFunc, uint32(k))
		w.byte(opEnd)
	}
	w.close(section)

	section = w.section(secExport)
	w.u32(2 * n)
	for k, i := range waits {
		w.numbered("s", i)
		w.op(KindGlobal, uint32(k))
		w.numbered("f", i)
		w.op(KindFunc, n+uint32(k))
	}
	w.close(section)

	call := byte(opCallRef)
	if tail {
		call = opReturnCallRef
	}
	section = w.section(secCode)
	w.u32(n)
	for k, i := range waits {
		body := w.hole()
		w.byte(0) // no locals
		w.params(m.paramCount(i))
		w.op(opGlobalGet, uint32(k))
		w.op(call, m.typeOf(i))
		w.byte(opEnd)
		w.close(body)
	}
	w.close(section)
	return w.b
}

// params writes the instructions that push all parameters.
//
//go:noinline
func (w *writer) params(n uint32) {
	for p := uint32(0); p < n; p++ {
		w.op(opLocalGet, p)
	}
}

// signature returns a reader of the parameters, and behind them the results, of a function: two vectors of value types.
//
//go:noinline
func (m *Module) signature(f uint32) reader {
	return reader{bin: m.bin, pos: int(m.types[m.typeOf(f)]), end: len(m.bin)}
}

func (m *Module) paramCount(f uint32) uint32 {
	r := m.signature(f)
	return r.u32()
}

// typeOf returns the type index of a function.
//
//go:noinline
func (m *Module) typeOf(f uint32) uint32 { return m.funcs[f] }

// exported returns the index of what is exported as export k.
//
//go:noinline
func (m *Module) exported(k uint32) uint32 { return m.Exports[k].Index }
