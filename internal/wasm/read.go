package wasm

// A Reader walks a part of a binary. Its first failure sticks and moves it to the end, so that callers can read on and
// check once at the end: every loop over input also stops at a failure.
type Reader struct {
	Bin  []byte
	Pos  int
	End  int
	Code Code
	At   int // where the failure was found
}

//go:noinline
func (r *Reader) Fail(c Code, at int) {
	if r.Code == OK {
		r.Code, r.At = c, at
	}
	r.Pos = r.End
}

// more reports whether there is something left to read and nothing has failed.
func (r *Reader) More() bool { return r.Pos < r.End }

//go:noinline
func (r *Reader) Byte() byte {
	b := r.Peek()
	if r.Pos >= r.End {
		r.Fail(Truncated, r.Pos)
		return 0
	}
	r.Pos++
	return b
}

// peek returns the next byte without reading it, 0 at the end.
//
//go:noinline
func (r *Reader) Peek() byte {
	if r.Pos >= r.End {
		return 0
	}
	return r.Bin[r.Pos]
}

// u32 reads an unsigned number of 32 bits (LEB128, at most five bytes).
//
//go:noinline
func (r *Reader) U32() uint32 {
	var v uint32
	for shift := uint(0); ; shift += 7 {
		b := r.Byte()
		if shift == 28 && b > 15 {
			r.Fail(BadNumber, r.Pos-1)
			return 0
		}
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
}

// leb reads a number of up to 64 bits, signed or not, and returns its low 32 bits, sign-extended. Most callers only
// want to get past it.
//
//go:noinline
func (r *Reader) Leb() uint32 {
	var v uint32
	for shift := uint(0); shift < 70; shift += 7 {
		b := r.Byte()
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			if b >= 0x40 && shift < 25 {
				v |= ^uint32(0) << (shift + 7)
			}
			return v
		}
	}
	r.Fail(BadNumber, r.Pos-1)
	return 0
}

// skip goes over n bytes.
//
//go:noinline
func (r *Reader) Skip(n uint32) {
	if n > uint32(r.End-r.Pos) {
		r.Fail(Truncated, r.End)
		return
	}
	r.Pos += int(n)
}

// name reads a name or any other vector of bytes.
//
//go:noinline
func (r *Reader) Name() Span {
	n := r.U32()
	at := r.Pos
	r.Skip(n)
	return Span{at, r.Pos}
}

// valType goes over a value type, and over everything that is written like one: heap type, block type, storage type.
// They all are a signed number, behind any of the prefixes exact (0x62), ref null (0x63), ref (0x64) and shared (0x65);
// no number begins like those.
//
//go:noinline
func (r *Reader) ValType() {
	for r.Peek()-0x62 < 4 {
		r.Pos++
	}
	r.Leb()
}

// valTypes goes over a vector of value types.
//
//go:noinline
func (r *Reader) ValTypes() {
	for n := r.U32(); n > 0 && r.Code == OK; n-- {
		r.ValType()
	}
}

// limits reads the limits of a memory or a table.
//
//go:noinline
func (r *Reader) limits() (l Memory) {
	flags := r.Byte()
	l.Shared, l.Is64 = flags&2 != 0, flags&4 != 0
	l.Min, l.Max = r.limit(l.Is64), 65536
	if flags&1 != 0 {
		l.Max = r.limit(l.Is64)
	}
	if flags&8 != 0 {
		r.Leb() // size of a page
	}
	return l
}

// limit reads a limit, which is unsigned: as a signed number 64 pages would be less than none.
func (r *Reader) limit(is64 bool) uint32 {
	if is64 {
		return r.Leb()
	}
	return r.U32()
}

// is reports whether the bytes of s are the word.
//
//go:noinline
func (r *Reader) is(s Span, word string) bool {
	if s.End-s.Start != len(word) {
		return false
	}
	for i := 0; i < len(word); i++ {
		if r.Bin[s.Start+i] != word[i] {
			return false
		}
	}
	return true
}
