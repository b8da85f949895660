package validate

import "github.com/fiberfill/fiberfill/internal/wasm"

// A reader is a wasm.Reader that is as strict as the specification: numbers have no more bits and bytes than they may,
// and types are types. Short forms are read without a call.
type reader struct{ wasm.Reader }

// failure returns the error with which the reader has failed.
func (r *reader) failure() Code {
	switch r.Code {
	case wasm.BadNumber:
		return BadNumber
	case wasm.BadType:
		return BadType
	case wasm.BadIndex:
		return UnknownType
	case wasm.BadOpcode:
		return BadOpcode
	case wasm.BadFlags:
		return BadFlags
	}
	return Truncated
}

func (r *reader) byte() byte {
	if r.Pos < r.End {
		r.Pos++
		return r.Bin[r.Pos-1]
	}
	return r.Byte()
}

// failure returns an error with this code or, if the reader has failed, the reader's error, since the rest only follows
// from that.
func (m *Module) failure(r *reader, c Code, at int) *Error {
	e := &Error{Code: c, At: at, m: m}
	if r.Code != wasm.OK {
		e.Code, e.At = r.failure(), r.At
	}
	if e.Code == UnknownType {
		again := reader{wasm.Reader{Bin: m.Bin, Pos: e.At, End: len(m.Bin)}}
		e.Index = uint32(again.signed(33))
	}
	return e
}

func (r *reader) u32() uint32 {
	if r.Pos < r.End && r.Bin[r.Pos] < 0x80 {
		r.Pos++
		return uint32(r.Bin[r.Pos-1])
	}
	return r.U32()
}

// u64 reads an unsigned number of 64 bits.
func (r *reader) u64() uint64 {
	if r.Pos < r.End && r.Bin[r.Pos] < 0x80 {
		r.Pos++
		return uint64(r.Bin[r.Pos-1])
	}
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := r.Byte()
		if shift == 63 && b > 1 {
			r.Fail(wasm.BadNumber, r.Pos-1)
			return 0
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
}

// signed reads a signed number of so many bits: 32, 33 or 64.
func (r *reader) signed(bits uint) int64 {
	if r.Pos < r.End && r.Bin[r.Pos] < 0x80 {
		r.Pos++
		return int64(int8(r.Bin[r.Pos-1]<<1) >> 1)
	}
	var v int64
	for shift := uint(0); ; {
		b := r.Byte()
		if left := bits - shift; left < 7 {
			unused := byte(0x7f) &^ (1<<(left-1) - 1) // and the sign, which they repeat
			if b >= 0x80 || b&unused != 0 && b&unused != unused {
				r.Fail(wasm.BadNumber, r.Pos-1)
				return 0
			}
		}
		v |= int64(b&0x7f) << shift
		shift += 7
		if b < 0x80 {
			if b >= 0x40 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// fixed reads so many bytes, the lowest first.
func (r *reader) fixed(n int) (v uint64) {
	at := r.Pos
	r.Skip(uint32(n))
	if r.Code == wasm.OK {
		for i := range n {
			v |= uint64(r.Bin[at+i]) << (8 * i)
		}
	}
	return v
}

// valType reads a value type.
func (m *Module) valType(r *reader) Type {
	switch b := r.Peek(); {
	case b >= 0x7b && b <= 0x7f:
		r.Pos++
		return Type(b)
	case b == 0x63:
		r.Pos++
		return RefNull(m.heapType(r))
	case b == 0x64:
		r.Pos++
		return Ref(m.heapType(r))
	case b >= 0x68 && b <= 0x75:
		r.Pos++
		return RefNull(abstract | Heap(b))
	}
	r.noType()
	return Unknown
}

// noType fails where a type had to begin.
func (r *reader) noType() {
	if r.Pos >= r.End {
		r.Fail(wasm.Truncated, r.Pos)
	}
	r.Fail(wasm.BadType, r.Pos)
}

// refType reads a reference type.
func (m *Module) refType(r *reader) Type {
	at := r.Pos
	t := m.valType(r)
	if !t.IsRef() {
		r.Fail(wasm.BadType, at)
	}
	return t
}

// heapType reads a heap type.
func (m *Module) heapType(r *reader) Heap {
	if b := r.Peek(); b >= 0x68 && b <= 0x75 {
		r.Pos++
		return abstract | Heap(b)
	}
	at := r.Pos
	i := r.signed(33)
	if i < 0 {
		r.Fail(wasm.BadType, at)
		return heapBottom
	}
	return m.typeID(r, uint32(i), at)
}

// typeIndex reads the index of a type and returns its id.
func (m *Module) typeIndex(r *reader) Heap {
	at := r.Pos
	return m.typeID(r, r.u32(), at)
}

func (m *Module) typeID(r *reader, i uint32, at int) Heap {
	if i >= uint32(len(m.TypeIDs)) {
		r.Fail(wasm.BadIndex, at)
		return heapBottom
	}
	return m.TypeIDs[i]
}
