package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// The group of types that every lowered module begins with: driver.wat has it, too.
const (
	typeFrame = iota
	typeReenter
	typeTag
	typeTags
	typeStack
	typeCont
	typeRealm
	baseTypes // how many there are
)

// Fields of typeStack, behind those that every frame begins with.
const (
	stackLeaf = 3
)

// Fields of typeRealm that guests use themselves.
const (
	realmCurrent  = 0
	realmCaptured = 1
	realmOutcome  = 3
)

const (
	final = 0x4f
	open  = 0x50
	mut   = 1
	fixed = 0
)

// frameFields are the fields that every frame begins with: caller, reenter, site.
const frameFields = "\x63\x00\x01" + "\x64\x01\x01" + "\x7f\x01"

// baseGroup is the group in the binary format.
const baseGroup = "\x4e\x07" +
	"\x50\x00\x5f\x03" + frameFields +
	"\x60\x01\x64\x00\x00" +
	"\x5f\x01\x7f\x01" +
	"\x5e\x64\x02\x00" +
	"\x4f\x01\x00\x5f\x0a" + frameFields + "\x63\x00\x01" + "\x63\x04\x01" + "\x63\x04\x01" +
	"\x63\x03\x01" + "\x63\x03\x01" + "\x7f\x01" + "\x63\x00\x01" +
	"\x50\x00\x5f\x01\x63\x04\x01" +
	"\x5f\x05" + "\x63\x04\x01" + "\x63\x04\x01" + "\x63\x04\x01" + "\x7f\x01" + "\x7f\x01"

// A typeList is the types that are added behind the guest's own, each once.
type typeList struct {
	first uint32   // index of the first
	keys  []string // their bytes
	index map[string]uint32
}

func (t *typeList) add(entry []byte) uint32 {
	if at, ok := t.index[string(entry)]; ok {
		return at
	}
	if t.index == nil {
		t.index = map[string]uint32{}
	}
	key := string(entry)
	at := t.first + uint32(len(t.keys))
	t.keys = append(t.keys, key)
	t.index[key] = at
	return at
}

// heap writes a heap type. A continuation is a structure here.
func (l *lowering) heap(w *wasm.Writer, h validate.Heap) {
	switch {
	case h.Defined():
		w.S32(l.index[h])
	case h == validate.HeapCont:
		w.S32(typeCont)
	case h == validate.HeapNoCont:
		w.Byte(validate.HeapNone.Byte())
	default:
		w.Byte(h.Byte())
	}
}

// value writes a value type, in its short form if it has one.
func (l *lowering) value(w *wasm.Writer, t validate.Type) {
	if !t.IsRef() {
		w.Byte(byte(t))
		return
	}
	switch h := t.Heap(); {
	case !t.Nullable():
		w.Byte(0x64)
	case h.Defined() || h == validate.HeapCont:
		w.Byte(0x63)
	}
	l.heap(w, t.Heap())
}

func (l *lowering) values(w *wasm.Writer, list []validate.Type) {
	w.U32(uint32(len(list)))
	for _, t := range list {
		l.value(w, t)
	}
}

// orNull returns t, with null if it is a reference: what a local or a field of a frame can begin with.
func orNull(t validate.Type) validate.Type {
	if t.IsRef() {
		return validate.RefNull(t.Heap())
	}
	return t
}

func allOrNull(list []validate.Type) []validate.Type {
	out := make([]validate.Type, len(list))
	for i, t := range list {
		out[i] = orNull(t)
	}
	return out
}

// funcType returns the index of a function type.
func (l *lowering) funcType(params, results []validate.Type) uint32 {
	w := &l.scratch
	w.B = append(w.B[:0], 0x60)
	l.values(w, params)
	l.values(w, results)
	return l.types.add(w.B)
}

// rawFuncType is the same for types that are written already.
func (l *lowering) rawFuncType(params, results string) uint32 {
	return l.types.add([]byte("\x60" + params + results))
}

// blockType writes the type of a block.
func (l *lowering) blockType(w *wasm.Writer, params, results []validate.Type) {
	switch {
	case len(params) == 0 && len(results) == 0:
		w.Byte(0x40)
	case len(params) == 0 && len(results) == 1:
		l.value(w, results[0])
	default:
		w.S32(l.funcType(params, results))
	}
}

// A layout is what frames of one form hold behind the three fields that all have.
type layout struct {
	index  uint32        // of the structure type
	heap   validate.Heap // stands for that type here, since it has no id among the guest's types
	fields []validate.Type
	save   [2]uint32 // functions that make a frame and hang it in, not the leaf and the leaf; 0: none yet
	resave [2]uint32 // the same with a frame that may be used again
	load   uint32    // the function that reads one
}

// layout returns the number of the layout with these fields.
func (l *lowering) layout(fields []validate.Type) int {
	index := l.frameType(fields)
	if n, ok := l.layoutOf[index]; ok {
		return n
	}
	if l.layoutOf == nil {
		l.layoutOf = map[uint32]int{}
	}
	l.layoutOf[index] = len(l.layouts)
	l.layouts = append(l.layouts, layout{index: index, heap: validate.Heap(len(l.index)), fields: allOrNull(fields)})
	l.index = append(l.index, index)
	return len(l.layouts) - 1
}

// frameType returns the index of the structure type of frames with these fields, each with null allowed.
func (l *lowering) frameType(fields []validate.Type) uint32 {
	w := &l.scratch
	w.B = w.B[:0]
	w.Raw("\x4f\x01\x00\x5f") // final, below typeFrame
	w.U32(uint32(len(fields) + 3))
	w.Raw(frameFields)
	for _, t := range fields {
		l.value(w, orNull(t))
		w.Byte(mut)
	}
	return l.types.add(w.B)
}

// A class is a kind of registers: globals that hold what passes between frames that do not call each other.
type class int

const (
	classI32 class = iota
	classI64
	classF32
	classF64
	classV128
	classAny
	classFunc
	classExtern
	classExn
	classes
)

var classNames = [classes]string{"i32", "i64", "f32", "f64", "v128", "any", "func", "extern", "exn"}

// classTypes are the types of the registers, as bytes.
var classTypes = [classes]string{"\x7f", "\x7e", "\x7d", "\x7c", "\x7b", "\x6e", "\x70", "\x6f", "\x69"}

func (l *lowering) class(t validate.Type) class {
	switch t {
	case validate.I32:
		return classI32
	case validate.I64:
		return classI64
	case validate.F32:
		return classF32
	case validate.F64:
		return classF64
	case validate.V128:
		return classV128
	}
	switch l.t.Top(t.Heap()) {
	case validate.HeapFunc:
		return classFunc
	case validate.HeapExtern:
		return classExtern
	case validate.HeapExn:
		return classExn
	}
	return classAny // continuations, too
}

// count raises the number of registers to what a list of types needs.
func (l *lowering) count(list []validate.Type) {
	var n [classes]uint32
	for _, t := range list {
		c := l.class(t)
		n[c]++
		if n[c] > l.registers[c] {
			l.registers[c] = n[c]
		}
	}
}
