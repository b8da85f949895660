package wasm

// A Writer appends to a binary. Sizes and counts that are known only later get a hole of five bytes, the longest form a
// number may have. These modules are never stored, so the wasted bytes cost nothing.
type Writer struct{ B []byte }

//go:noinline
func (w *Writer) Byte(b byte) { w.B = append(w.B, b) }

//go:noinline
func (w *Writer) Bytes(p []byte) { w.B = append(w.B, p...) }

//go:noinline
func (w *Writer) Raw(s string) { w.B = append(w.B, s...) }

//go:noinline
func (w *Writer) U32(v uint32) {
	for v >= 0x80 {
		w.Byte(byte(v) | 0x80)
		v >>= 7
	}
	w.Byte(byte(v))
}

// s32 writes a signed number that is not negative: a constant, or a type index where a value type could stand as well.
//
//go:noinline
func (w *Writer) S32(v uint32) {
	for v >= 0x40 {
		w.Byte(byte(v) | 0x80)
		v >>= 7
	}
	w.Byte(byte(v))
}

// op writes an instruction, or anything else that is a byte and an index.
//
//go:noinline
func (w *Writer) Op(b byte, v uint32) {
	w.Byte(b)
	w.U32(v)
}

//go:noinline
func (w *Writer) Hole() int {
	w.Raw("\x80\x80\x80\x80\x00")
	return len(w.B)
}

// fill puts v into the hole that ends at end.
//
//go:noinline
func (w *Writer) Fill(end int, v uint32) {
	h := w.B[end-5 : end]
	for i := range h {
		h[i] = byte(v)&0x7f | 0x80
		v >>= 7
	}
	h[4] &= 0x7f
}

// section begins a section; close ends it, or anything else that began with its size.
//
//go:noinline
func (w *Writer) Section(id byte) int {
	w.Byte(id)
	return w.Hole()
}

//go:noinline
func (w *Writer) Close(start int) { w.Fill(start, uint32(len(w.B)-start)) }

// name writes a string with its length.
//
//go:noinline
func (w *Writer) Name(s string) {
	w.U32(uint32(len(s)))
	w.Raw(s)
}

// numbered writes the name that is a prefix and a decimal number.
//
//go:noinline
func (w *Writer) Numbered(prefix string, n uint32) {
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
	w.U32(uint32(len(prefix) + len(d) - i))
	w.Raw(prefix)
	w.Bytes(d[i:])
}

// refNull writes the value type (ref null t).
//
//go:noinline
func (w *Writer) RefNull(t uint32) {
	w.Byte(0x63)
	w.S32(t)
}

// begin writes the Preamble and opens the type section with the guest's own entries in it, byte for byte: so each of
// its types has the same index here, also those that refer to each other, and is the same type to the engine, which
// compares types by structure. Room is left for more entries: count them with [writer.endTypes].
//
//go:noinline
func (m *Module) BeginTypes(w *Writer) (section, count int) {
	w.Raw(Preamble)
	section = w.Section(SectionType)
	count = w.Hole()
	if s := m.sections[SectionType]; s.End != 0 {
		w.Bytes(m.bin[m.firstType:s.End])
	}
	return
}

// endTypes closes the type section after so many more function types.
//
//go:noinline
func (m *Module) EndTypes(w *Writer, section, count int, more uint32) {
	w.Fill(count, m.typeEntries+more)
	w.Close(section)
}
