package wasm

// A writer appends to a binary. Sizes and counts that are known only later get a hole of five bytes, the longest form a
// number may have; nobody stores these modules, so the bytes this wastes cost nothing.
type writer struct{ b []byte }

//go:noinline
func (w *writer) byte(b byte) { w.b = append(w.b, b) }

//go:noinline
func (w *writer) bytes(p []byte) { w.b = append(w.b, p...) }

//go:noinline
func (w *writer) raw(s string) { w.b = append(w.b, s...) }

//go:noinline
func (w *writer) u32(v uint32) {
	for v >= 0x80 {
		w.byte(byte(v) | 0x80)
		v >>= 7
	}
	w.byte(byte(v))
}

// s32 writes a signed number that is not negative: a constant, or a type index where a value type could stand as well.
//
//go:noinline
func (w *writer) s32(v uint32) {
	for v >= 0x40 {
		w.byte(byte(v) | 0x80)
		v >>= 7
	}
	w.byte(byte(v))
}

// op writes an instruction, or anything else that is a byte and an index.
//
//go:noinline
func (w *writer) op(b byte, v uint32) {
	w.byte(b)
	w.u32(v)
}

//go:noinline
func (w *writer) hole() int {
	w.raw("\x80\x80\x80\x80\x00")
	return len(w.b)
}

// fill puts v into the hole that ends at end.
//
//go:noinline
func (w *writer) fill(end int, v uint32) {
	h := w.b[end-5 : end]
	for i := range h {
		h[i] = byte(v)&0x7f | 0x80
		v >>= 7
	}
	h[4] &= 0x7f
}

// section begins a section; close ends it, or anything else that began with its size.
//
//go:noinline
func (w *writer) section(id byte) int {
	w.byte(id)
	return w.hole()
}

//go:noinline
func (w *writer) close(start int) { w.fill(start, uint32(len(w.b)-start)) }

// name writes a string with its length.
//
//go:noinline
func (w *writer) name(s string) {
	w.u32(uint32(len(s)))
	w.raw(s)
}

// numbered writes the name that is a prefix and a decimal number.
//
//go:noinline
func (w *writer) numbered(prefix string, n uint32) {
	var d [11]byte
	i := len(d)
	for {
		i--
		d[i] = byte('0' + n%10)
		n /= 10
		if n == 0 {
			break
		}
	}
	w.u32(uint32(len(prefix) + len(d) - i))
	w.raw(prefix)
	w.bytes(d[i:])
}

// spelled writes the import js.x, where x is a prefix and the bytes of a value type in hexadecimal digits.
//
//go:noinline
func (w *writer) spelled(prefix string, p []byte) {
	const digits = "0123456789abcdef"
	w.name("js")
	w.u32(uint32(len(prefix) + 2*len(p)))
	w.raw(prefix)
	for _, b := range p {
		w.byte(digits[b>>4])
		w.byte(digits[b&15])
	}
}

// refNull writes the value type (ref null t).
//
//go:noinline
func (w *writer) refNull(t uint32) {
	w.byte(0x63)
	w.s32(t)
}

// begin writes the preamble and opens the type section with the guest's own entries in it, byte for byte: so each of its
// types has the same index here, also those that refer to each other, and is the same type to the engine, which compares
// types by structure. Room is left for more entries: count them with [writer.endTypes].
//
//go:noinline
func (m *Module) begin(w *writer) (section, count int) {
	w.raw(preamble)
	section = w.section(secType)
	count = w.hole()
	if s := m.sections[secType]; s.end != 0 {
		w.bytes(m.bin[m.firstType:s.end])
	}
	return
}

// endTypes closes the type section after so many more function types.
//
//go:noinline
func (m *Module) endTypes(w *writer, section, count int, more uint32) {
	w.fill(count, m.typeEntries+more)
	w.close(section)
}

// waiting returns the indices of the function imports that are marked as such that may wait.
//
//go:noinline
func (m *Module) waiting(marks []byte) []uint32 {
	var waits []uint32
	for i := 0; i < m.imported && i < len(marks); i++ {
		if marks[i] != 0 {
			waits = push(waits, uint32(i))
		}
	}
	return waits
}
