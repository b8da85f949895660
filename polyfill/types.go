package polyfill

// Type is the type of one value that travels with a switch.
type Type uint8

const (
	// I32, I64, F32 and F64 are the types of numbers.
	I32 Type = iota + 1
	I64
	F32
	F64
	// Ref is a reference that is not null, NullRef one that may be null.
	Ref
	NullRef
)

// Types is a list of at most [MaxValues] types, four bits each, the first in the lowest bits. It is a number, so that a
// list is compared in one step and crosses the border to wasm as one i32. The zero Types is the empty list.
type Types uint32

// MaxValues is how many values one switch can carry.
const MaxValues = 8

// List returns the list of the given types, in order. It panics if there are more than [MaxValues].
func List(types ...Type) (list Types) {
	if len(types) > MaxValues {
		panic("polyfill: more than 8 values in one list of types")
	}
	for i, t := range types {
		list |= Types(t) << (4 * i)
	}
	return list
}

// Valid reports whether l is a list of types: it has no gaps, and every type in it exists.
func (l Types) Valid() bool {
	for ; l != 0; l >>= 4 {
		if t := l.At(0); t == 0 || t > NullRef {
			return false
		}
	}
	return true
}

// Len returns the number of types.
func (l Types) Len() (n int) {
	for ; l != 0; l >>= 4 {
		n++
	}
	return n
}

// At returns type number i, 0 beyond the end.
func (l Types) At(i int) Type { return Type(l >> (4 * i) & 15) }

// Takes reports whether values of the types sent may arrive where l is expected: as many values, each of the same type,
// except that Ref may arrive where NullRef is expected (K-4, C-TYPE-3).
func (l Types) Takes(sent Types) bool {
	if l == sent {
		return true // nearly always
	}
	for ; l != 0 || sent != 0; l, sent = l>>4, sent>>4 {
		if !l.At(0).takes(sent.At(0)) {
			return false
		}
	}
	return true
}

func (t Type) takes(sent Type) bool { return t == sent || t == NullRef && sent == Ref }

// After returns the types that are still expected once values of the types sent have been supplied as the first ones;
// ok is false if l does not begin with those types (C-BIND-1).
func (l Types) After(sent Types) (rest Types, ok bool) {
	for ; sent != 0; l, sent = l>>4, sent>>4 {
		if !l.At(0).takes(sent.At(0)) {
			return 0, false
		}
	}
	return l, true
}

// Then returns the types of l followed by those of more.
func (l Types) Then(more Types) Types { return l | more<<(4*l.Len()) }

// EndsWith reports whether the last types of l are those of suffix (A-HDL-4).
func (l Types) EndsWith(suffix Types) bool {
	lead := l.Len() - suffix.Len()
	return lead >= 0 && l>>(4*lead) == suffix
}
