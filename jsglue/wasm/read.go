package wasm

// A reader walks a part of a binary. Its first failure sticks and moves it to the end, so that callers read on without
// looking and check once: every loop over input also stops at a failure.
type reader struct {
	bin  []byte
	pos  int
	end  int
	code Code
	at   int // where the failure was found
}

//go:noinline
func (r *reader) fail(c Code, at int) {
	if r.code == OK {
		r.code, r.at = c, at
	}
	r.pos = r.end
}

// more reports whether there is something left to read and nothing has failed.
func (r *reader) more() bool { return r.pos < r.end }

//go:noinline
func (r *reader) byte() byte {
	b := r.peek()
	if r.pos >= r.end {
		r.fail(Truncated, r.pos)
		return 0
	}
	r.pos++
	return b
}

// peek returns the next byte without reading it, 0 at the end.
func (r *reader) peek() byte {
	if r.pos >= r.end {
		return 0
	}
	return r.bin[r.pos]
}

// u32 reads an unsigned number of 32 bits (LEB128, at most five bytes).
//
//go:noinline
func (r *reader) u32() uint32 {
	var v uint32
	for shift := uint(0); ; shift += 7 {
		b := r.byte()
		if shift == 28 && b > 15 {
			r.fail(BadNumber, r.pos-1)
			return 0
		}
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
}

// leb reads a number of up to 64 bits, signed or not, and returns its low 32 bits, sign-extended. Most callers only want
// to get past it.
//
//go:noinline
func (r *reader) leb() uint32 {
	var v uint32
	for shift := uint(0); shift < 70; shift += 7 {
		b := r.byte()
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			if b >= 0x40 && shift < 25 {
				v |= ^uint32(0) << (shift + 7)
			}
			return v
		}
	}
	r.fail(BadNumber, r.pos-1)
	return 0
}

// skip goes over n bytes.
//
//go:noinline
func (r *reader) skip(n uint32) {
	if n > uint32(r.end-r.pos) {
		r.fail(Truncated, r.end)
		return
	}
	r.pos += int(n)
}

// name reads a name or any other vector of bytes.
//
//go:noinline
func (r *reader) name() span {
	n := r.u32()
	at := r.pos
	r.skip(n)
	return span{at, r.pos}
}

// valType goes over a value type, and over everything that is written like one: heap type, block type, storage type. They
// all are a signed number, behind any of the prefixes exact (0x62), ref null (0x63), ref (0x64) and shared (0x65); no
// number begins like those.
//
//go:noinline
func (r *reader) valType() {
	for r.peek()-0x62 < 4 {
		r.pos++
	}
	r.leb()
}

// valTypes goes over a vector of value types.
//
//go:noinline
func (r *reader) valTypes() {
	for n := r.u32(); n > 0 && r.code == OK; n-- {
		r.valType()
	}
}

// limits reads the limits of a memory or a table.
//
//go:noinline
func (r *reader) limits() (l Memory) {
	flags := r.byte()
	l.Shared, l.Is64 = flags&2 != 0, flags&4 != 0
	l.Min, l.Max = r.limit(l.Is64), 65536
	if flags&1 != 0 {
		l.Max = r.limit(l.Is64)
	}
	if flags&8 != 0 {
		r.leb() // size of a page
	}
	return l
}

// limit reads a limit, which is unsigned: as a signed number 64 pages would be less than none.
func (r *reader) limit(is64 bool) uint32 {
	if is64 {
		return r.leb()
	}
	return r.u32()
}

// is reports whether the bytes of s are the word.
//
//go:noinline
func (r *reader) is(s span, word string) bool {
	if s.end-s.start != len(word) {
		return false
	}
	for i := 0; i < len(word); i++ {
		if r.bin[s.start+i] != word[i] {
			return false
		}
	}
	return true
}
