package stubs

import (
	"github.com/fiberfill/fiberfill/internal/shadow"
	"github.com/fiberfill/fiberfill/internal/wasm"
)

// writeCode writes the bodies of all functions of B.
//
//go:noinline
func (b *builder) writeCode() {
	section := b.Section(wasm.SectionCode)
	b.U32(b.start + 1 - b.firstThunk)
	for i := range b.guest {
		b.writeThunk(uint32(i))
	}
	for j := range b.waits {
		b.writeStub(uint32(j))
	}
	body := b.Hole()
	b.Byte(0)
	for j := range uint32(len(b.waits)) {
		b.Op(wasm.OpRefFunc, b.firstStub+j)
		b.Op(wasm.OpGlobalSet, b.firstSlot+j)
	}
	b.Byte(wasm.OpEnd)
	b.Close(body)
	b.Close(section)
}

// runner is the local of a thunk that holds what it was called with.
const runner = 0

// writeThunk writes the thunk through which a worker calls the i-th exported function.
//
//go:noinline
func (b *builder) writeThunk(i uint32) {
	body := b.Hole()
	params := b.m.Signature(b.m.Exports[b.guest[i]].Index)
	results := params
	results.ValTypes()
	locals := results

	// One local for each result, behind the runner: they come off the stack last first, and JavaScript gets them first
	// first.
	n := locals.U32() + 1
	b.U32(n)
	for p := uint32(1); p < n; p++ {
		b.Byte(1)
		at := uint32(locals.Pos)
		locals.ValType()
		b.Bytes(b.m.ValType(at))
	}
	b.Raw("\x01\x7f") // and an i32
	b.Raw(guarded)
	b.Op(wasm.OpLocalGet, runner)
	b.Op(wasm.OpCall, funcStart)
	switch {
	case b.opt.Regions:
		b.Op(wasm.OpLocalTee, n)
		b.Op(wasm.OpGlobalSet, globalSP)
		b.Op(wasm.OpLocalGet, n)
		b.Op(wasm.OpGlobalGet, globalSize)
		b.Byte(wasm.OpI32Sub)
		b.Op(wasm.OpGlobalSet, b.low)
	case b.opt.StackPointer:
		b.Op(wasm.OpGlobalSet, globalSP)
	default:
		b.Byte(wasm.OpDrop)
	}
	for p := range params.U32() {
		b.Op(wasm.OpLocalGet, runner)
		b.constant(p)
		b.Op(wasm.OpCall, b.firstArg+b.args.next(&params))
	}
	b.Op(wasm.OpCall, b.firstGuest+i)
	for p := n - 1; p > 0; p-- {
		b.Op(wasm.OpLocalSet, p)
	}
	for p := range results.U32() {
		b.Op(wasm.OpLocalGet, runner)
		b.constant(p)
		b.Op(wasm.OpLocalGet, p+1)
		b.Op(wasm.OpCall, b.firstGive+b.gives.next(&results))
	}
	b.look(n, noLocal)
	b.ended()
	b.Raw(caught)
	b.Op(wasm.OpGlobalSet, globalExn)
	b.look(n, noLocal)
	b.ended()
	b.Op(wasm.OpLocalGet, runner)
	b.Op(wasm.OpCall, funcFailed)
	b.Byte(wasm.OpEnd)
	b.Close(body)
}

// writeStub writes the stub through which the guest calls the j-th import that may wait.
//
//go:noinline
func (b *builder) writeStub(j uint32) {
	body := b.Hole()
	i := b.waits[j]
	exn := b.m.ParamCount(i)
	b.Raw("\x02\x01\x69\x02\x7f") // locals: an exnref, and two i32
	if b.opt.StackPointer {
		b.Op(wasm.OpGlobalGet, globalSP)
		b.Op(wasm.OpLocalTee, exn+1)
		b.Op(wasm.OpGlobalSet, b.parked)
	}
	b.look(exn+2, exn+1)
	b.Raw(guarded)
	b.rest()
	params(&b.Writer, exn)
	b.Op(wasm.OpCall, b.firstWait+j)
	b.pointer(exn + 1)
	b.resumed()
	b.Raw(caught)
	b.Op(wasm.OpLocalSet, exn)
	b.pointer(exn + 1)
	b.Op(wasm.OpLocalGet, exn)
	b.Op(wasm.OpGlobalSet, globalExn)
	b.constant(i)
	b.Op(wasm.OpCall, funcRefused)
	b.Raw("\x04\x40") // if: no fiber could wait here, so the import is called as one that does not
	params(&b.Writer, exn)
	b.Op(wasm.OpCall, b.firstDirect+j)
	b.Raw("\x0f\x0b") // return end
	b.resumed()       // not before: the fiber that the core has named may be another one than was refused
	b.Op(wasm.OpLocalGet, exn)
	b.Raw("\x0a\x0b") // throw_ref end
	b.Close(body)
}

// rest sets the stack pointer to its place when no fiber runs.
//
//go:noinline
func (b *builder) rest() {
	if b.opt.StackPointer {
		b.Op(wasm.OpGlobalGet, globalRest)
		b.Op(wasm.OpGlobalSet, globalSP)
	}
}

// ended tells that the fiber has ended, and puts the stack pointer where it rests then.
//
//go:noinline
func (b *builder) ended() {
	b.Op(wasm.OpGlobalGet, globalShared)
	b.Raw("\x04\x40") // if
	b.Op(wasm.OpLocalGet, runner)
	b.Op(wasm.OpCall, funcEnded)
	b.Byte(wasm.OpEnd)
	b.rest()
}

// resumed tells that the fiber has gone on.
//
//go:noinline
func (b *builder) resumed() {
	b.Op(wasm.OpGlobalGet, globalShared)
	b.Raw("\x04\x40") // if
	b.Op(wasm.OpCall, funcResumed)
	b.Byte(wasm.OpEnd)
}

// pointer puts the stack pointer back; it is in the local. In the next one is where the region begins.
//
//go:noinline
func (b *builder) pointer(saved uint32) {
	if b.opt.StackPointer {
		b.Op(wasm.OpLocalGet, saved)
		b.Op(wasm.OpGlobalSet, globalSP)
	}
	if b.opt.Regions {
		b.Op(wasm.OpLocalGet, saved+1)
		b.Op(wasm.OpGlobalSet, b.low)
	}
}

// look puts into the local low where the running fiber's region begins. It calls touched if the guard there has been
// written to, or if the stack pointer, in the local pointer if that is given, is below it: a large frame need not have
// written to all of its bytes. Before any fiber has run there is no region.
//
//go:noinline
func (b *builder) look(low, pointer uint32) {
	if !b.opt.Regions {
		return
	}
	b.Op(wasm.OpGlobalGet, b.low)
	b.Op(wasm.OpLocalTee, low)
	b.Raw("\x04\x40") // if
	for at := uint32(0); at < shadow.Guard; at += 8 {
		b.Op(wasm.OpLocalGet, low)
		b.Op(wasm.OpI64Load, 3) // aligned at 2^3 bytes
		b.U32(at)
		b.Byte(wasm.OpI64Const)
		b.Raw(untouched)
		b.Byte(wasm.OpI64Xor)
		if at > 0 {
			b.Byte(wasm.OpI64Or)
		}
	}
	b.Raw("\x42\x00\x52") // is not 0
	if pointer != noLocal {
		b.Op(wasm.OpLocalGet, pointer)
		b.Op(wasm.OpLocalGet, low)
		b.Raw("\x49\x72") // is below: or
	}
	b.Raw("\x04\x40") // if
	b.Op(wasm.OpCall, funcTouched)
	b.Raw("\x0b\x0b") // end end
}

const noLocal = ^uint32(0)

//go:noinline
func (b *builder) constant(v uint32) {
	b.Byte(wasm.OpI32Const)
	b.S32(v)
}
