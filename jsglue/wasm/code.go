package wasm

// writeCode writes the bodies of all functions of B.
//
//go:noinline
func (b *stubs) writeCode() {
	section := b.section(secCode)
	b.u32(b.start + 1 - b.firstThunk)
	for i := range b.guest {
		b.writeThunk(uint32(i))
	}
	for j := range b.waits {
		b.writeStub(uint32(j))
	}
	body := b.hole()
	b.byte(0)
	for j := range uint32(len(b.waits)) {
		b.op(opRefFunc, b.firstStub+j)
		b.op(opGlobalSet, b.firstSlot+j)
	}
	b.byte(opEnd)
	b.close(body)
	b.close(section)
}

// writeThunk writes the way from a worker to the i-th exported function.
//
//go:noinline
func (b *stubs) writeThunk(i uint32) {
	body := b.hole()
	params := b.m.signature(b.m.exported(b.guest[i]))
	results := params
	results.valTypes()
	locals := results

	// One local for each result: they come off the stack last first, and JavaScript gets them first first.
	n := locals.u32()
	b.u32(n + 1)
	for range n {
		b.byte(1)
		at := uint32(locals.pos)
		locals.valType()
		b.bytes(b.m.valType(at))
	}
	b.raw("\x01\x7f") // and an i32
	b.raw(guarded)
	b.op(opCall, funcStart)
	switch {
	case b.opt.Regions:
		b.op(opLocalTee, n)
		b.op(opGlobalSet, globalSP)
		b.op(opLocalGet, n)
		b.op(opGlobalGet, globalSize)
		b.byte(opI32Sub)
		b.op(opGlobalSet, b.low)
	case b.opt.StackPointer:
		b.op(opGlobalSet, globalSP)
	default:
		b.byte(opDrop)
	}
	for p := range params.u32() {
		b.constant(p)
		b.op(opCall, b.firstArg+b.args.next(&params))
	}
	b.op(opCall, b.firstGuest+i)
	for p := n; p > 0; p-- {
		b.op(opLocalSet, p-1)
	}
	for p := range results.u32() {
		b.constant(p)
		b.op(opLocalGet, p)
		b.op(opCall, b.firstGive+b.gives.next(&results))
	}
	b.look(n, noLocal)
	b.ended()
	b.raw(caught)
	b.op(opGlobalSet, globalExn)
	b.look(n, noLocal)
	b.ended()
	b.op(opCall, funcFailed)
	b.byte(opEnd)
	b.close(body)
}

// writeStub writes the way from the guest to the j-th import that may wait.
//
//go:noinline
func (b *stubs) writeStub(j uint32) {
	body := b.hole()
	i := b.waits[j]
	exn := b.m.paramCount(i)
	b.raw("\x02\x01\x69\x02\x7f") // locals: an exnref, and two i32
	if b.opt.StackPointer {
		b.op(opGlobalGet, globalSP)
		b.op(opLocalTee, exn+1)
		b.op(opGlobalSet, b.parked)
	}
	b.look(exn+2, exn+1)
	b.raw(guarded)
	b.rest()
	b.params(exn)
	b.op(opCall, b.firstWait+j)
	b.restore(exn + 1)
	b.raw(caught)
	b.op(opLocalSet, exn)
	b.pointer(exn + 1)
	b.op(opLocalGet, exn)
	b.op(opGlobalSet, globalExn)
	b.constant(i)
	b.op(opCall, funcRefused)
	b.raw("\x04\x40") // if: no fiber could wait here, so the import is called as one that does not
	b.params(exn)
	b.op(opCall, b.firstDirect+j)
	b.raw("\x0f\x0b") // return end
	b.copyBack()      // not before: the fiber that the core has named may be another one than was refused
	b.op(opLocalGet, exn)
	b.raw("\x0a\x0b") // throw_ref end
	b.close(body)
}

// rest sets the stack pointer to where it is when no fiber runs.
//
//go:noinline
func (b *stubs) rest() {
	if b.opt.StackPointer {
		b.op(opGlobalGet, globalBase)
		b.op(opGlobalSet, globalSP)
	}
}

// ended takes the fiber that has ended off the stack.
//
//go:noinline
func (b *stubs) ended() {
	if b.opt.Copies {
		b.op(opCall, funcEnded)
	}
	b.rest()
}

// restore gives the fiber its stack back; its pointer is in the local.
//
//go:noinline
func (b *stubs) restore(saved uint32) {
	b.copyBack()
	b.pointer(saved)
}

//go:noinline
func (b *stubs) copyBack() {
	if b.opt.Copies {
		b.op(opCall, funcRestore)
	}
}

// pointer puts the stack pointer back; it is in the local. In the next one is where the region begins.
//
//go:noinline
func (b *stubs) pointer(saved uint32) {
	if b.opt.StackPointer {
		b.op(opLocalGet, saved)
		b.op(opGlobalSet, globalSP)
	}
	if b.opt.Regions {
		b.op(opLocalGet, saved+1)
		b.op(opGlobalSet, b.low)
	}
}

// look puts into the local where the running fiber's region begins, and tells touched if somebody has written to the guard
// that lies there, or if the stack pointer, which is in the other local if there is one, is below: what a large frame has room
// for need not have been written. There is no region as long as no fiber has run.
//
//go:noinline
func (b *stubs) look(low, pointer uint32) {
	if !b.opt.Regions {
		return
	}
	b.op(opGlobalGet, b.low)
	b.op(opLocalTee, low)
	b.raw("\x04\x40") // if
	for at := uint32(0); at < guardSize; at += 8 {
		b.op(opLocalGet, low)
		b.op(opI64Load, 3) // aligned at 2^3 bytes
		b.u32(at)
		b.byte(opI64Const)
		b.raw(untouched)
		b.byte(opI64Xor)
		if at > 0 {
			b.byte(opI64Or)
		}
	}
	b.raw("\x42\x00\x52") // is not 0
	if pointer != noLocal {
		b.op(opLocalGet, pointer)
		b.op(opLocalGet, low)
		b.raw("\x49\x72") // is below: or
	}
	b.raw("\x04\x40") // if
	b.op(opCall, funcTouched)
	b.raw("\x0b\x0b") // end end
}

const noLocal = ^uint32(0)

//go:noinline
func (b *stubs) constant(v uint32) {
	b.byte(opI32Const)
	b.s32(v)
}
