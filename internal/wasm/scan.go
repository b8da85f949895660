package wasm

// scan reads the code once and notes what the sections before it do not tell: how the module grows its memory (see
// [Growth]), and which globals are used as stack pointers.
//
// A stack that grows down: some function subtracts a multiple of 16 from the global, or sets the global to a value from
// which it has subtracted one. Every function with a frame does that first. Nothing is ever subtracted from the pointer
// to a heap's next free byte, and a counter hardly counts down in sixteens. A function whose frame has a variable size
// rounds that size to a multiple of 16 before it subtracts. In unoptimised code all operands go through locals. If the
// global could be a pointer by its initial value, and another multiple of 4 is subtracted, nobody can tell: it may be a
// stack with smaller frames.
//
// A stack that grows up, as Emscripten made it before it used LLVM's backend: a function sets the global to something
// larger, and later to the value of a local. The pointer of a heap only grows.
//
//go:noinline
func (m *Module) scan() {
	s := m.sections[SectionCode]
	if m.scanned || s.End == 0 {
		return
	}
	m.scanned = true
	r := Reader{Bin: m.bin, Pos: s.Start, End: s.End}
	function := int32(m.Imported)
	for n := r.U32(); n > 0 && r.Code == OK; n-- {
		size := r.U32()
		body := r.Pos
		r.Skip(size)
		end := r.Pos
		if r.Code != OK {
			break
		}
		r.Pos, r.End = body, end
		for locals := r.U32(); locals > 0 && r.Code == OK; locals-- {
			r.U32()
			r.ValType()
		}
		m.tell(r, function)
		function++
		m.scanBody(&r)
		r.End = s.End
	}
	if r.Code != OK { // an unknown instruction, and all code behind it, may do anything
		m.growth = Asks
		m.suspect = m.suspect || m.shaped != unseen
	}
}

// tell notes the global that a function returns, if it does nothing else: Emscripten's for JavaScript, which may have
// any name there, or one that the module itself calls.
//
//go:noinline
func (m *Module) tell(r Reader, function int32) {
	if r.Byte() != OpGlobalGet {
		return
	}
	g := r.Leb()
	op := r.Byte()
	if op == OpReturn {
		op = r.Byte()
	}
	if !m.MutableI32(g) || op != OpEnd || r.More() {
		return
	}
	if function == m.tells() {
		m.told = int32(g)
	}
	for i := range m.Exports {
		if e := &m.Exports[i]; e.Kind == KindFunc && int32(e.Index) == function {
			return
		}
	}
	if int32(g) == m.candidate() {
		m.scans = true
	}
}

//go:noinline
func (m *Module) scanBody(r *Reader) {
	const none = ^uint32(2)       // no global, and not what candidate returns where there is none
	const pages = none - 1        // no global either: stands for what memory.grow has returned
	before, pointer := none, none // the global that the last instruction but one, and the last, have read
	raised := none                // the global that has been set to something more
	frame := uint32(0)            // what the last one was, if an i32.const, or has taken off
	last := byte(OpEnd)           // its opcode
	// The locals into which a global and a constant have been put last, and which global and constant these are. Code
	// without optimisation then fetches both, one after the other.
	copied, global, sized, size := none, none, none, uint32(0)
	fetched := false // the last local.get has read copied
	zero := false    // and was it of one that holds 0
	stack := uint32(m.candidate())
	// What is known of the last memory.grow, and where code without optimisation keeps its result: in a local, and at
	// this offset from some address. Only code that makes an address of the result, shifting it by 16, is known to use
	// the new pages, and no others. (If an allocator multiplies by 65536, its calls are right, and do not overlap.)
	growth, result, slot := Never, none, none
	for r.More() {
		from := r.Pos
		op := r.instruction()
		operand := Reader{Bin: r.Bin, Pos: from + 1, End: r.Pos}
		read := none
		compared := op >= OpI32Eqz && op <= opI32GeU
		if pointer == stack && (compared || op == OpI32Sub || op == OpI32Store) ||
			(pointer == stack || before == stack) && (op == OpCall || op == OpCallIndirect) {
			m.scans = true
		}
		switch op {
		case OpMemorySize:
			m.growth = Asks
		case OpMemoryGrow:
			if zero && last == OpLocalGet || last == OpI32Const && frame == 0 {
				m.growth = Asks
			}
			m.growth = max(m.growth, growth)
			growth, result, slot, read = Asks, none, none, pages
		case OpI32Load, OpI32Store:
			operand.Leb()
			if offset := operand.Leb(); op == OpI32Load && offset == slot {
				read = pages
			} else if op == OpI32Store && pointer == pages {
				slot = offset
			}
		case OpGlobalGet:
			read = operand.Leb()
		case OpI32Const:
			frame = operand.Leb()
		case OpLocalSet:
			local := operand.Leb()
			if local == copied {
				copied = none
			}
			if pointer == pages {
				result = local
			}
			switch last {
			case OpGlobalGet:
				copied, global = local, pointer
			case OpI32Const:
				sized, size = local, frame
			}
		case OpLocalGet:
			local := operand.Leb()
			if (fetched || pointer == pages) && last == OpLocalGet && local == sized {
				op, frame = OpI32Const, size
			}
			if fetched = local == copied; fetched {
				read = global
			} else if local == result {
				read = pages
			}
			zero = local == sized && size == 0
		case OpI32And:
			if last != OpI32Const || frame%16 != 0 {
				op = OpEnd
			}
			frame = 16
		case OpI32Sub, OpI32Add:
			if op == OpI32Add {
				frame = -frame // an optimiser may add what is less than nothing
			}
			if before == stack && int32(frame) > 0 && frame%4 == 0 {
				m.suspect = true
			}
			if last != OpI32Const && (last != OpI32And || op == OpI32Add) || frame%16 != 0 {
				frame = 0
			}
			if int32(frame) > 0 {
				m.stack(before, falls)
			}
		case OpLocalTee:
			if local := operand.Leb(); last == OpGlobalGet {
				copied, global = local, pointer
			} else if local == copied {
				copied = none
			} else if pointer == pages {
				result = local
			}
			op, read = last, pointer // the value is still there
		case OpGlobalSet:
			g := operand.Leb()
			if last == OpLocalGet && g == raised {
				m.stack(g, rises)
			}
			if last == OpI32Sub || last == OpI32Add {
				if int32(frame) > 0 {
					m.stack(g, falls)
				} else if frame != 0 {
					raised = g
				}
			}
		}
		if before == pages && op == OpI32Shl && frame == 16 {
			growth = Adds
		}
		before, pointer = pointer, read
		if op != OpI32Const {
			before = none
		}
		last = op
	}
	m.growth = max(m.growth, growth)
}

// stack notes what has been seen of a global, if it could be the pointer of a stack.
//
//go:noinline
func (m *Module) stack(global uint32, way byte) {
	if m.MutableI32(global) {
		if way&^m.globals[global] == falls {
			m.stacks++
		}
		m.globals[global] |= way
		m.suspect = true
	}
}
