package polyfill

// Type is the type of one value that travels with a switch.
type Type uint8

const (
	I32 Type = iota + 1
	I64
	F32
	F64
	// Ref is a reference that is not null, NullRef one that may be.
	Ref
	NullRef
)

// Types is a list of at most [MaxValues] types, four bits each, the first in the lowest bits. It is a number, so that a
// list is compared in one step and crosses the border to wasm as one i32. The zero Types is the empty list.
type Types uint32

// MaxValues is how many values one switch can carry.
const MaxValues = 8

// List returns the types in order. More than [MaxValues] of them panic.
func List(types ...Type) (list Types) {
	if len(types) > MaxValues {
		panic("polyfill: more than 8 values in one list of types")
	}
	for i, t := range types {
		list |= Types(t) << (4 * i)
	}
	return list
}

// Valid reports whether l is a list of types: without gaps, and of types that there are.
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

// Takes reports whether values of the types sent may arrive where l is expected: the same number of values, each of the
// same type, or a reference that is not null where one that may be null is expected (K-4, C-TYPE-3).
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

// After returns what is expected once values of the types sent have been supplied as the first ones; ok is false if l
// does not begin so (C-BIND-1).
func (l Types) After(sent Types) (rest Types, ok bool) {
	for ; sent != 0; l, sent = l>>4, sent>>4 {
		if !l.At(0).takes(sent.At(0)) {
			return 0, false
		}
	}
	return l, true
}

// Then returns the list of l's types and behind them those of more.
func (l Types) Then(more Types) Types { return l | more<<(4*l.Len()) }

// EndsWith reports whether l is suffix, or other types and then suffix (A-HDL-4).
func (l Types) EndsWith(suffix Types) bool {
	lead := l.Len() - suffix.Len()
	return lead >= 0 && l>>(4*lead) == suffix
}
