package validate

// A Type is a value type, or what may stand where one does: the storage types [I8] and [I16], and the types of operands
// that unreachable code makes up, [Unknown] and [Bottom]. Two types of one [Types] are the same type if and only if
// they are equal.
type Type uint32

// Numbers and vectors. The values are the bytes of the binary format.
const (
	Unknown Type = 0 // any type at all: an operand of unreachable code
	I32     Type = 0x7f
	I64     Type = 0x7e
	F32     Type = 0x7d
	F64     Type = 0x7c
	V128    Type = 0x7b
	I8      Type = 0x78 // storage only
	I16     Type = 0x77 // storage only
)

// A Heap says what a reference refers to: a defined type, by its id in [Types], or one of the constants below.
type Heap uint32

// Abstract heap types. The low byte is that of the binary format.
const (
	abstract Heap = 1 << 28

	HeapNoCont   Heap = abstract | 0x75
	HeapNoExn    Heap = abstract | 0x74
	HeapNoFunc   Heap = abstract | 0x73
	HeapNoExtern Heap = abstract | 0x72
	HeapNone     Heap = abstract | 0x71
	HeapFunc     Heap = abstract | 0x70
	HeapExtern   Heap = abstract | 0x6f
	HeapAny      Heap = abstract | 0x6e
	HeapEq       Heap = abstract | 0x6d
	HeapI31      Heap = abstract | 0x6c
	HeapStruct   Heap = abstract | 0x6b
	HeapArray    Heap = abstract | 0x6a
	HeapExn      Heap = abstract | 0x69
	HeapCont     Heap = abstract | 0x68

	heapBottom Heap = abstract // below all
)

const (
	reference Type = 1 << 31
	nullable  Type = 1 << 30
)

// Bottom is a reference of which nothing more is known: unreachable code has it where an instruction asks only for a
// reference.
const Bottom = reference | Type(heapBottom)

// Ref returns the type (ref h).
func Ref(h Heap) Type { return reference | Type(h) }

// RefNull returns the type (ref null h).
func RefNull(h Heap) Type { return reference | nullable | Type(h) }

// IsRef reports whether t is a reference.
func (t Type) IsRef() bool { return t&reference != 0 }

// Nullable reports whether t is a reference that may be null.
func (t Type) Nullable() bool { return t&nullable != 0 }

// Heap returns what the reference t refers to.
func (t Type) Heap() Heap { return Heap(t &^ (reference | nullable)) }

// NonNull returns the reference t without null.
func (t Type) NonNull() Type { return t &^ nullable }

// Defaultable reports whether there is a value that a local or a field of type t begins with.
func (t Type) Defaultable() bool { return t&reference == 0 || t&nullable != 0 }

// Defined reports whether h is a defined type; its value is then the id.
func (h Heap) Defined() bool { return h&abstract == 0 }

// Byte returns the byte of an abstract heap type in the binary format.
func (h Heap) Byte() byte { return byte(h) }

// unpacked returns the type of the operand that stands for a field of storage type t.
func (t Type) unpacked() Type {
	if t == I8 || t == I16 {
		return I32
	}
	return t
}
