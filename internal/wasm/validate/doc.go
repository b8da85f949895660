// Package validate decodes a WebAssembly module in full, with types, and says whether it is valid. It knows WebAssembly
// 3.0 (garbage collection, typed references, exceptions, tail calls, several memories, 64-bit addresses, vectors,
// extended constants), and beyond it threads, the older exceptions (try, catch, delegate, rethrow), and the
// stack-switching proposal. An engine validates as well. This package finds what an engine cannot tell: the types of
// the operands before each instruction, which a rewriter needs, and the faults of a module whose instructions no engine
// knows.
//
// TinyGo compiles it, for use in a page: no fmt, no reflection, no goroutines, errors by code.
//
// # How to use it
//
// [Decode] reads everything but the code of functions, and validates that. [Validate] goes through the code, too. A
// caller that wants to see the code goes through it with a [Body], which validates each instruction before showing it:
//
//	m, err := validate.Decode(bin, nil)
//	var b validate.Body
//	for f := m.ImportedFuncs; f < len(m.Funcs); f++ {
//		for b.Start(m, uint32(f)); b.Next(); {
//			// b.Op, b.At, b.End and the immediates: the instruction
//			// b.Stack, b.Args: the operands before it, and how many of them it takes
//			// b.Pushed: what it leaves instead
//			// b.Controls: the blocks it is in
//			// b.Set: whether a local has a value
//		}
//		if b.Err() != nil { … }
//	}
//
// It is one pass. An instruction takes effect when Next goes on to the following one, so what a consumer sees is the
// state before it. For a block that begins, Controls does not have it yet; for an else, a catch or an end it still has
// it.
//
// # Types
//
// A [Type] is a number of 32 bits. [Types] holds each defined type once: a type that the type section repeats, or that
// another module decoded into the same Types also has, has one id. So equal types are equal numbers, and subtyping
// ([Types.Match]) is a walk up the declared supertypes. Where modules are decoded apart, keys ([Types.AppendKey])
// compare.
//
// # Unreachable code
//
// After an unconditional branch the operand stack is unknown down to the beginning of the block. Instructions there are
// validated as the specification says: missing operands are of any type. Control.Unreachable is set then, Stack may
// have fewer than Args operands of the block, and operands may be [Unknown] or [Bottom].
//
// # What is refused, and how
//
// An [Error] has a [Code] that keeps its number, the offset of what is malformed or of the instruction or entry that
// breaks a rule, and what was expected and found. Error.Error makes a sentence of it. Only the first thing that is
// wrong is told.
//
//   - Within the rules, but refused ([TooMany]): more than 1,000 parameters or results, 10,000 fields, 50,000 locals,
//     or a chain of more than 63 supertypes. No engine accepts these, and they would make the work on one instruction
//     unbounded. Other limits of engines (memories, tables, the size of a body) are left to engines.
//   - A function that is only valid in an older encoding of the stack-switching proposal ([OlderEncoding]).
//   - A tag may have results, as the proposal says. throw and catch take such a tag; resume_throw does not.
//   - Custom sections never make a module invalid, but their names are UTF-8. Branch hints are in [Module.Hints].
//
// # What it costs
//
// 70 MB/s of code on one core, natively; 75 in Node 26 when it is warm, compiled by TinyGo with -opt=2. It allocates
// for what the sections list, and nothing for an instruction.
package validate
