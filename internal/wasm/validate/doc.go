// Package validate decodes a WebAssembly module in full, with types, and says whether it is valid. It knows WebAssembly 3.0
// (garbage collection, typed references, exceptions, tail calls, several memories, 64-bit addresses, vectors, extended
// constants), and beyond it threads, the older exceptions (try, catch, delegate, rethrow), and the stack-switching
// proposal. An engine validates as well; this package is for what an engine cannot say: the types of operands before
// each instruction, which a rewriter needs, and what is wrong with a module that no engine knows the instructions of.
//
// It compiles with TinyGo, for use in a page: no fmt, no reflection, no goroutines, errors by code.
//
// # How to use it
//
// [Decode] reads everything but the code of functions, and validates it. [Validate] also goes through the code. Who wants to
// see the code goes through it with a [Body], which validates each instruction before it shows it:
//
//	m, err := validate.Decode(bin, nil)
//	var b validate.Body
//	for f := m.ImportedFuncs; f < len(m.Funcs); f++ {
//		for b.Start(m, uint32(f)); b.Next(); {
//			// b.Op, b.At, b.End and the immediates: the instruction
//			// b.Stack, b.Args: the operands before it, and how many of them it takes
//			// b.Pushed: what it leaves instead
//			// b.Controls: the blocks it is in
//		}
//		if b.Err() != nil { … }
//	}
//
// # Types
//
// A [Type] is a number of 32 bits. Defined types are held by [Types], each once: what the type section repeats, or what
// another module has in common with this one if both are decoded into the same Types, has one id. So equal types are
// equal numbers, and subtyping ([Types.Match]) is a walk up the declared supertypes. Where modules are decoded apart,
// keys ([Types.AppendKey]) compare.
//
// # Unreachable code
//
// Behind an unconditional branch the operand stack is unknown down to the beginning of the block. Instructions there are
// validated as the specification says: what is missing is of any type. Then Control.Unreachable is set, Stack may have
// fewer than Args operands of the block, and types may be [Unknown] or have the heap type of [Bottom].
package validate
