package conformance

import (
	"math"

	"github.com/fiberfill/fiberfill/polyfill"
)

// value returns the value of a type for a payload number, as it would lie in a register. Each can be recognised at the
// other end:
//
//	i32 n    i64 n*2^32+n    f32 n+0.5    f64 n-0.25    ref reference number n    null ref null
func value(t polyfill.Type, n int16) uint64 {
	switch t {
	case polyfill.I32:
		return uint64(uint32(int32(n)))
	case polyfill.I64:
		return uint64(int64(n)<<32 + int64(n))
	case polyfill.F32:
		return uint64(math.Float32bits(float32(n) + 0.5))
	case polyfill.F64:
		return math.Float64bits(float64(n) - 0.25)
	case polyfill.Ref:
		return uint64(uint16(n))
	}
	return 0
}

// Types returns the types of a signature.
func Types(signature int8) polyfill.Types { return polyfill.List(Signatures[signature]...) }

// sent returns the signature of the values that an operation sends.
func (o *Op) sent() int8 {
	switch {
	case o.As != Null:
		return o.As
	case o.Tag >= 0:
		return Tags[o.Tag].Params
	}
	return 0
}
