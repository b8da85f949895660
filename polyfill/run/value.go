package run

import (
	"fmt"
	"math"

	"github.com/fiberfill/fiberfill/polyfill"
)

// Value is one value that travels with a switch: a number or a reference.
type Value struct {
	Type polyfill.Type
	bits uint64
	ref  any
}

// I32 returns an i32 as a value.
func I32(v int32) Value { return Value{Type: polyfill.I32, bits: uint64(uint32(v))} }

// I64 returns an i64 as a value.
func I64(v int64) Value { return Value{Type: polyfill.I64, bits: uint64(v)} }

// F32 returns an f32 as a value.
func F32(v float32) Value { return Value{Type: polyfill.F32, bits: uint64(math.Float32bits(v))} }

// F64 returns an f64 as a value.
func F64(v float64) Value { return Value{Type: polyfill.F64, bits: math.Float64bits(v)} }

// Fiber returns a reference to a fiber as a value; a null reference has the type NullRef.
func Fiber(f polyfill.Fiber) Value {
	if f == 0 {
		return Value{Type: polyfill.NullRef}
	}
	return Value{Type: polyfill.Ref, bits: uint64(f)}
}

// Ref returns any Go value as a reference; nil has the type NullRef.
func Ref(v any) Value {
	if v == nil {
		return Value{Type: polyfill.NullRef}
	}
	return Value{Type: polyfill.Ref, ref: v}
}

// Raw returns the value of a type from its bits in a register, which is how guests in wasm hold values.
func Raw(t polyfill.Type, bits uint64) Value {
	if t == polyfill.I32 || t == polyfill.F32 {
		bits = uint64(uint32(bits))
	}
	return Value{Type: t, bits: bits}
}

// Values are what a computation receives. They are valid until its next operation, because events are transient (K-5):
// copy what is needed later. The values that a function is called with stay valid, as parameters do.
type Values []Value

// I32 returns value number i. It panics if that is of another type, as do the methods for other types.
func (v Values) I32(i int) int32 { return int32(v.at(i, polyfill.I32).bits) }

// I64 returns value number i, an i64.
func (v Values) I64(i int) int64 { return int64(v.at(i, polyfill.I64).bits) }

// F32 returns value number i, an f32.
func (v Values) F32(i int) float32 { return math.Float32frombits(uint32(v.at(i, polyfill.F32).bits)) }

// F64 returns value number i, an f64.
func (v Values) F64(i int) float64 { return math.Float64frombits(v.at(i, polyfill.F64).bits) }

// Fiber returns value number i, a reference to a fiber or null.
func (v Values) Fiber(i int) polyfill.Fiber { return polyfill.Fiber(v.reference(i).bits) }

// Ref returns value number i, a reference or nil.
func (v Values) Ref(i int) any { return v.reference(i).ref }

func (v Values) reference(i int) *Value {
	if v[i].Type == polyfill.NullRef {
		return &v[i]
	}
	return v.at(i, polyfill.Ref)
}

func (v Values) at(i int, t polyfill.Type) *Value {
	if v[i].Type != t {
		panic(fmt.Sprintf("polyfill/run: value %d is of type %d, not %d", i, v[i].Type, t))
	}
	return &v[i]
}

// Bits returns value number i as it would lie in a register.
func (v Values) Bits(i int) uint64 { return v[i].bits }

// typesOf returns the types of values. For more values than a switch can carry, or a value of no type, it returns types
// that no receiver takes.
func typesOf(values []Value) (types polyfill.Types) {
	if len(values) > polyfill.MaxValues {
		return ^polyfill.Types(0)
	}
	for i := range values {
		t := values[i].Type
		if t == 0 || t > polyfill.NullRef {
			return ^polyfill.Types(0)
		}
		types |= polyfill.Types(t) << (4 * i)
	}
	return types
}

// Tag is the kind of an event. Tags are the same if they are the same pointer (K-3).
type Tag struct {
	world  *world
	number polyfill.Tag
	name   string
}

func (t *Tag) String() string { return t.name }

// Number returns the tag's number in its system, by which guests name it; 0 for nil.
func (t *Tag) Number() polyfill.Tag {
	if t == nil {
		return 0
	}
	return t.number
}

// Event is what a computation receives where it waited. Tag is nil if the computation goes on at its next instruction:
// a fiber has returned (fibers1 and cont), or the receiver did not take the event (fibers2).
type Event struct {
	Tag   *Tag
	Label int32 // place of Tag in the table that the computation waited with
	Values
}
