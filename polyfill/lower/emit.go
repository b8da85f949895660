package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// An emitter writes one function.
type emitter struct {
	wasm.Writer
	l      *lowering
	s      *source                 // nil for a function that is not made from the guest's code
	depth  int                     // blocks that are open
	open   []int                   // for each construct of the source under way, the function first, depth inside of it
	within []int                   // for each of those the index of its first instruction, -1 for the function
	below  []int                   // for each of those but the function how many of outer are further out
	mine   func(layout int) uint32 // of a cold function: the local with the frame that the function may use again
	cold   bool                    // the function goes on from a frame, which is its parameter
	self   uint32                  // index of the cold function
	bound  int                     // the place of a cont.bind that has been done with the cont.new before it

	first  uint32 // local: the first of the following
	locals []validate.Type
	temps  []temp
	outer  []operand       // operands of the blocks around, all in temps
	fields []validate.Type // of the frame of a site
}

// A temp is a local that keeps an operand.
type temp struct {
	use    use
	height int
	local  uint32
}

// A use keeps locals with the same height and type apart.
type use byte

const (
	useOperand use = iota
	useParam       // of a construct, at its beginning
	useCont        // of a resume or switch
	useTaken       // by a resume
	useBranch      // what a branch that has gone on leaves
)

// An operand is one on the stack.
type operand struct {
	height int
	t      validate.Type
}

// reset makes the emitter ready for another function: it keeps its memory.
func (e *emitter) reset(l *lowering, s *source) *emitter {
	*e = emitter{Writer: wasm.Writer{B: e.B[:0]}, l: l, s: s, open: append(e.open[:0], 0),
		within: append(e.within[:0], -1), below: e.below[:0], locals: e.locals[:0], temps: e.temps[:0],
		outer: e.outer[:0], fields: e.fields[:0]}
	return e
}

func (e *emitter) i32(v uint32) {
	e.Byte(wasm.OpI32Const)
	e.S32(v)
}

func (e *emitter) get(local uint32)     { e.Op(wasm.OpLocalGet, local) }
func (e *emitter) set(local uint32)     { e.Op(wasm.OpLocalSet, local) }
func (e *emitter) global(index uint32)  { e.Op(wasm.OpGlobalGet, index) }
func (e *emitter) realm()               { e.global(e.l.hidden(globalRealm)) }
func (e *emitter) call(function uint32) { e.Op(wasm.OpCall, function) }

// block opens a block without parameters, if opens an if that has taken its condition.
func (e *emitter) block() {
	e.Raw("\x02\x40")
	e.depth++
}

func (e *emitter) iff() {
	e.Raw("\x04\x40")
	e.depth++
}

func (e *emitter) end() {
	e.Byte(wasm.OpEnd)
	e.depth--
}

// null writes ref.null of the bottom type of t.
func (e *emitter) null(t validate.Type) {
	e.Byte(wasm.OpRefNull)
	switch e.l.class(t) {
	case classFunc:
		e.Byte(validate.HeapNoFunc.Byte())
	case classExtern:
		e.Byte(validate.HeapNoExtern.Byte())
	case classExn:
		e.Byte(validate.HeapNoExn.Byte())
	default:
		e.Byte(validate.HeapNone.Byte())
	}
}

// local adds a local and returns its index.
func (e *emitter) local(t validate.Type) uint32 {
	e.locals = append(e.locals, orNull(t))
	return e.first + uint32(len(e.locals)-1)
}

// temp returns the local for an operand.
func (e *emitter) temp(u use, height int, t validate.Type) uint32 {
	t = orNull(t)
	for _, p := range e.temps {
		if p.use == u && p.height == height && e.locals[p.local-e.first] == t {
			return p.local
		}
	}
	p := temp{u, height, e.local(t)}
	e.temps = append(e.temps, p)
	return p.local
}

// spill moves operands, of which the lowest is at that height, from the stack into temps.
func (e *emitter) spill(u use, height int, list []validate.Type) {
	for i := len(list) - 1; i >= 0; i-- {
		e.set(e.temp(u, height+i, list[i]))
	}
}

// reload pushes the operands that have been spilled.
func (e *emitter) reload(u use, height int, list []validate.Type) {
	for i, t := range list {
		e.get(e.temp(u, height+i, t))
		if !t.Defaultable() {
			e.Byte(wasm.OpRefAsNonNull)
		}
	}
}

// toRegisters moves operands from the stack into registers.
// Why: RATIONALE.md, "Why do values between frames pass through globals?".
func (e *emitter) toRegisters(list []validate.Type) {
	regs := e.l.assign(list)
	for i := len(list) - 1; i >= 0; i-- {
		e.Op(wasm.OpGlobalSet, regs[i])
	}
}

// fromRegisters pushes what is in registers, and clears those that hold references.
func (e *emitter) fromRegisters(list []validate.Type) {
	for i, reg := range e.l.assign(list) {
		e.fromRegister(reg, list[i])
	}
}

func (e *emitter) fromRegister(reg uint32, t validate.Type) {
	if !t.IsRef() {
		e.global(reg)
		return
	}
	switch h := t.Heap(); h {
	case validate.HeapNoExn:
		e.null(t) // there is no cast for it
		if !t.Nullable() {
			e.Byte(wasm.OpRefAsNonNull)
		}
		return
	case validate.HeapAny, validate.HeapFunc, validate.HeapExtern, validate.HeapExn:
		e.global(reg)
		if !t.Nullable() {
			e.Byte(wasm.OpRefAsNonNull)
		}
	default:
		e.global(reg)
		if e.l.continuation(h) {
			e.call(e.l.received(h))
			if !t.Nullable() {
				e.Byte(wasm.OpRefAsNonNull)
			}
			break
		}
		e.Byte(wasm.PrefixGC)
		e.Byte(0x16) // ref.cast
		if t.Nullable() {
			e.B[len(e.B)-1] = 0x17
		}
		e.l.heap(&e.Writer, h)
	}
	e.null(t)
	e.Op(wasm.OpGlobalSet, reg)
}

// assign returns the registers for a list of types: for each the next of its class.
func (l *lowering) assign(list []validate.Type) []uint32 {
	regs := make([]uint32, len(list))
	var n [classes]uint32
	for i, t := range list {
		c := l.class(t)
		regs[i] = l.firstRegister[c] + n[c]
		n[c]++
	}
	return regs
}

// dummies pushes values of these types, which nothing will read.
func (e *emitter) dummies(list []validate.Type) {
	for _, t := range list {
		switch t {
		case validate.I32:
			e.Raw("\x41\x00")
		case validate.I64:
			e.Raw("\x42\x00")
		case validate.F32:
			e.Raw("\x43\x00\x00\x00\x00")
		case validate.F64:
			e.Raw("\x44\x00\x00\x00\x00\x00\x00\x00\x00")
		case validate.V128:
			e.Raw("\xfd\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
		default:
			if t.Nullable() {
				e.null(t)
			} else {
				e.call(e.l.dummy(t))
			}
		}
	}
}

// label returns the label in the output for one of the source.
func (e *emitter) label(label uint32) uint32 {
	return uint32(e.depth - e.open[len(e.open)-1-int(label)])
}

// variable returns the local in the output for one of the source.
func (e *emitter) variable(local uint32) uint32 {
	if e.cold {
		return local + 1
	}
	return local
}

// structGet and structSet access a field of a frame.
func (e *emitter) structGet(t, field uint32) {
	e.Raw("\xfb\x02")
	e.U32(t)
	e.U32(field)
}

func (e *emitter) structSet(t, field uint32) {
	e.Raw("\xfb\x05")
	e.U32(t)
	e.U32(field)
}

// realmGet pushes a field of the state that all lowered modules share.
func (e *emitter) realmGet(field uint32) {
	e.realm()
	e.structGet(typeRealm, field)
}

func (e *emitter) structNew(t uint32) {
	e.Raw("\xfb\x00")
	e.U32(t)
}

// function wraps up what has been written as the body of a function with these locals before the emitter's own. The
// body has memory of its own.
func (e *emitter) function(locals []validate.Type) []byte {
	w := &e.l.scratch
	w.B = w.B[:0]
	groups, n := uint32(0), uint32(0)
	var last validate.Type
	group := func() {
		if n > 0 {
			groups++
			w.U32(n)
			e.l.value(w, last)
		}
	}
	for _, list := range [...][]validate.Type{locals, e.locals} {
		for _, t := range list {
			if t != last {
				group()
				last, n = t, 0
			}
			n++
		}
	}
	group()
	var head wasm.Writer
	head.B = make([]byte, 0, 5+len(w.B)+len(e.B)+1)
	head.U32(groups)
	head.Bytes(w.B)
	head.Bytes(e.B)
	head.Byte(wasm.OpEnd)
	return head.B
}
