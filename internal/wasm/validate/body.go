package validate

import "github.com/fiberfill/fiberfill/internal/wasm"

// A Body goes through the code of a function, or through a constant expression, instruction by instruction, and
// validates it on the way. One Body serves any number of functions, one after another, and allocates only until its
// slices have become large enough. All its slices are valid until the next call of a method.
type Body struct {
	// The instruction that Next has found. It is valid, and has not taken effect yet: the fields below describe the
	// state before it.
	Op      uint32 // one of the constants wasm.Op…
	At, End int    // its first byte, and the byte behind it

	// Its immediates. Op determines which of them it has; the others mean nothing.
	X, Y     uint32 // indices, in the order of the binary format; X is the label of a branch, of br_table the default
	Value    uint64 // of a constant (floating-point numbers by their bits), or the offset of a memory instruction
	Align    uint32 // the exponent
	Lane     byte
	Type     Type // operand of a select with a type, ref.null, the target of ref.test, ref.cast and br_on_cast
	Source   Type // br_on_cast: the type that is cast
	Labels   []uint32
	Catches  []Catch
	Handlers []Handler

	// Stack is the operand stack. In unreachable code only those operands are there that this code has pushed.
	Stack []Type
	// Args is how many operands at the end of Stack the instruction takes. In unreachable code it may take more, that
	// are not there.
	Args int
	// Pushed are the operands that it leaves in their place. A branch, or another instruction behind which nothing is
	// reached, leaves none; a block leaves its parameters, an end what the block leaves behind.
	Pushed []Type
	// Controls is the control stack, the function itself first, the innermost block last. The label l of a branch is
	// Controls[len(Controls)-1-l].
	Controls []Control
	// Locals are the types of all locals, parameters first.
	Locals []Type

	m     *Module
	types *Types
	r     reader
	err   *Error

	// The innermost block: where its operands begin, and whether the code is unreachable there.
	base        int
	unreachable bool
	height      int    // of the stack, without the operands that the instruction has taken so far
	effect      effect // of the instruction on the control stack
	opened      Control
	result      [1]Type // for Pushed
	more        []Type  // likewise

	set     []uint32 // bits: the locals that have a value
	sets    []uint32 // the locals that have got one and whose types have no default
	singles []Type   // results of blocks that have one

	constant bool // it is a constant expression
	globals  int  // that it may see

	index   uint32 // of the function
	resumes int    // where resume_throw_ref has been seen first, or -1
	older   bool   // read resume_throw_ref as the switch of an older encoding
}

// An effect is what an instruction does to the control stack.
type effect byte

const (
	none      effect = iota
	opens            // a block
	closes           // the innermost block
	continues        // with another part of it: else, catch
	stops            // nothing after it is reached
	sets             // the local X
)

// A Control is a block under way.
type Control struct {
	// Op has opened it: wasm.OpBlock, OpLoop, OpIf, OpElse, OpTry, OpCatch, OpCatchAll or OpTryTable. 0: the function.
	Op     uint32
	At     int // offset of that instruction
	Height int // of the operand stack below its parameters
	// Unreachable says that the code up to the end of the block, or of its part, is not reached.
	Unreachable bool
	Params      []Type
	Results     []Type

	sets int // how many locals had got a value when it began
}

// Label returns the types of the operands that a branch to c takes with it.
func (c *Control) Label() []Type {
	if c.Op == wasm.OpLoop {
		return c.Params
	}
	return c.Results
}

// A Catch is a clause of a try_table.
type Catch struct {
	Kind  byte // CatchTag …
	Tag   uint32
	Label uint32 // as seen from outside of the block
}

// Kinds of clauses.
const (
	CatchTag    = 0
	CatchTagRef = 1
	CatchAll    = 2
	CatchAllRef = 3
)

// A Handler is a clause of a resume instruction.
type Handler struct {
	Switch bool // (on $tag switch), which has no label
	Tag    uint32
	Label  uint32
}

// Start prepares for the function with this index, which must not be imported, and reads its locals. It reports whether
// they are valid.
func (b *Body) Start(m *Module, f uint32) bool {
	b.begin(m, m.Funcs[f].Body, m.Results(f))
	b.constant, b.index, b.resumes = false, f, -1
	b.Locals = append(b.Locals[:0], m.Params(f)...)
	params := len(b.Locals)
	b.readLocals()
	b.set = b.set[:0]
	for len(b.set) <= len(b.Locals)/32 {
		b.set = append(b.set, 0)
	}
	for i, t := range b.Locals {
		if i < params || t.Defaultable() {
			b.set[i/32] |= 1 << (i % 32)
		}
	}
	return b.fine()
}

// StartConst prepares for a constant expression of a type, which may see the first so many globals.
func (b *Body) startConst(m *Module, expr wasm.Span, t Type, globals int) {
	b.begin(m, expr, nil)
	b.constant, b.globals = true, globals
	b.Locals = b.Locals[:0]
	b.Controls[0].Results = b.single(t)
}

func (b *Body) begin(m *Module, code wasm.Span, results []Type) {
	b.m, b.types, b.err = m, m.Types, nil
	b.r = reader{wasm.Reader{Bin: m.Bin, Pos: code.Start, End: code.End}}
	b.Stack, b.sets, b.singles = b.Stack[:0], b.sets[:0], b.singles[:0]
	b.Pushed, b.Args = nil, 0
	b.base, b.height, b.unreachable, b.effect = 0, 0, false, none
	b.Controls = append(b.Controls[:0], Control{At: code.Start, Results: results})
}

// Err returns what is wrong, or nil.
func (b *Body) Err() *Error { return b.err }

// Set reports whether the local has a value for certain: a parameter, a local whose type has a default, one that has
// been written to.
func (b *Body) Set(local uint32) bool { return b.set[local/32]&(1<<(local%32)) != 0 }

// Next goes to the next instruction and reports whether there is one; the last is the function's end. It returns false
// after that end, and if something is wrong: then Err says what.
func (b *Body) Next() bool {
	b.happen()
	if b.err != nil || len(b.Controls) == 0 {
		if b.err == nil && b.r.Pos < b.r.End {
			b.fail(SectionSize, b.r.Pos)
		}
		return false
	}
	b.effect = none
	b.Pushed = nil
	b.height = len(b.Stack)
	b.At = b.r.Pos
	b.instruction()
	b.End = b.r.Pos
	b.Args = len(b.Stack) - b.height
	if b.fine() {
		return true
	}
	b.suspectOlder()
	return false
}

// fine reports whether nothing is wrong, neither with the bytes nor with their meaning.
func (b *Body) fine() bool {
	if b.err == nil && b.r.Code != wasm.OK {
		b.fail(b.r.failure(), b.r.At)
	}
	return b.err == nil
}

// happen applies the instruction that Next has returned.
func (b *Body) happen() {
	if len(b.Pushed) == 1 {
		b.Stack = append(b.Stack[:b.height], b.Pushed[0])
	} else {
		b.Stack = append(b.Stack[:b.height], b.Pushed...)
	}
	switch b.effect {
	case none:
		return
	case sets:
		b.give(b.X)
	case stops:
		b.Stack = b.Stack[:b.base]
		b.Controls[len(b.Controls)-1].Unreachable = true
		b.unreachable = true
	case opens:
		b.opened.Height = b.height
		b.opened.sets = len(b.sets)
		b.Controls = append(b.Controls, b.opened)
		b.enter()
	case continues:
		c := &b.Controls[len(b.Controls)-1]
		c.Op, c.At, c.Unreachable = b.Op, b.At, false
		b.take(c.sets)
		b.enter()
	case closes:
		c := &b.Controls[len(b.Controls)-1]
		b.take(c.sets)
		b.Controls = b.Controls[:len(b.Controls)-1]
		b.enter()
	}
}

// enter notes the facts about the innermost block that every operand needs.
func (b *Body) enter() {
	if n := len(b.Controls); n > 0 {
		b.base, b.unreachable = b.Controls[n-1].Height, b.Controls[n-1].Unreachable
	}
}

// give notes that a local has a value from now on.
func (b *Body) give(local uint32) {
	if !b.Set(local) {
		b.set[local/32] |= 1 << (local % 32)
		b.sets = append(b.sets, local)
	}
}

// take notes at the end of a block that the locals which have got a value in the block may have none after it.
func (b *Body) take(sets int) {
	for _, local := range b.sets[sets:] {
		b.set[local/32] &^= 1 << (local % 32)
	}
	b.sets = b.sets[:sets]
}

// single returns a slice of the one type, as the results of a block.
func (b *Body) single(t Type) []Type {
	b.singles = append(b.singles, t)
	return b.singles[len(b.singles)-1:][:1:1]
}
