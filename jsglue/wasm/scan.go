package wasm

// scan goes once through the code and notes what cannot be told from the sections before it.
//
// A module may grow its memory if it has memory.grow, and also if it asks for memory.size: in Emscripten's modules it is
// JavaScript that grows the memory, behind an import, and what shows in the code is only that the allocator asks how much
// there is; it hands out all that it finds, whoever has added it.
//
// A global is the pointer of a stack that grows down if its value less a multiple of 16 is computed somewhere, or if it is
// set to something less a multiple of 16, as every function with a frame of its own does first. A pointer to the next free
// byte of a heap looks the same in the sections before the code, but nothing is taken off it; a counter may count down,
// but hardly in sixteens. A function whose frame has a length of its own takes off what it has cut to a multiple of 16, and
// without optimisation all operands go through locals.
//
// It is the pointer of a stack that grows up, as in what Emscripten wrote before it used LLVM's backend, if a function sets
// it to something more and then to what a local holds; a heap only grows.
//
//go:noinline
func (m *Module) scan() {
	s := m.sections[secCode]
	if m.scanned || s.end == 0 {
		return
	}
	m.scanned = true
	r := reader{bin: m.bin, pos: s.start, end: s.end}
	tells := m.tells() - int32(m.imported)
	for n := r.u32(); n > 0 && r.code == OK; n-- {
		size := r.u32()
		body := r.pos
		r.skip(size)
		end := r.pos
		if r.code != OK {
			break
		}
		r.pos, r.end = body, end
		for locals := r.u32(); locals > 0 && r.code == OK; locals-- {
			r.u32()
			r.valType()
		}
		if tells == 0 {
			m.tell(r)
		}
		tells--
		m.scanBody(&r)
		r.end = s.end
	}
	if r.code != OK { // what is not known here, and what follows, may do anything
		m.sizes = true
		m.suspect = m.suspect || m.shaped != unseen
	}
}

// tell notes the global that a function returns, if it does nothing else.
//
//go:noinline
func (m *Module) tell(r reader) {
	if r.byte() != opGlobalGet {
		return
	}
	if g := r.leb(); m.MutableI32(g) && r.byte() == opEnd && !r.more() {
		m.told = int32(g)
	}
}

//go:noinline
func (m *Module) scanBody(r *reader) {
	const none = ^uint32(0)
	before, pointer := none, none // the global that the last instruction but one, and the last, have read
	raised := none                // the global that has been set to something more
	frame := uint32(0)            // what the last one was, if an i32.const, or has taken off
	last := byte(opEnd)           // its opcode
	// The locals that a global and a constant have been put into last, and which those are. Without optimisation both are
	// then fetched, one behind the other.
	copied, global, sized, size := none, none, none, uint32(0)
	fetched := false // the last local.get was of copied
	for r.more() {
		from := r.pos
		op := r.instruction()
		operand := reader{bin: r.bin, pos: from + 1, end: r.pos}
		read := none
		switch op {
		case opMemorySize, opMemoryGrow:
			m.sizes = true
		case opGlobalGet:
			read = operand.leb()
		case opI32Const:
			frame = operand.leb()
		case opLocalSet:
			switch local := operand.leb(); last {
			case opGlobalGet:
				copied, global = local, pointer
			case opI32Const:
				sized, size = local, frame
			}
		case opLocalGet:
			local := operand.leb()
			if fetched && last == opLocalGet && local == sized {
				op, frame, pointer = opI32Const, size, global
			}
			fetched = local == copied
		case opI32And:
			if last != opI32Const || frame%16 != 0 {
				op = opEnd
			}
			frame = 16
		case opI32Sub, opI32Add:
			if op == opI32Add {
				frame = -frame // an optimiser may add what is less than nothing
			}
			if last != opI32Const && (last != opI32And || op == opI32Add) || frame%16 != 0 {
				frame = 0
			}
			if int32(frame) > 0 {
				m.stack(before, falls)
			}
		case opLocalTee:
			op = last // the value is still there
		case opGlobalSet:
			g := operand.leb()
			if last == opLocalGet && g == raised {
				m.stack(g, rises)
			}
			if last == opI32Sub || last == opI32Add {
				if int32(frame) > 0 {
					m.stack(g, falls)
				} else if frame != 0 {
					raised = g
				}
			}
		}
		before, pointer = pointer, read
		if op != opI32Const {
			before = none
		}
		last = op
	}
}

// stack notes what has been seen of a global, if it could be the pointer of a stack.
//
//go:noinline
func (m *Module) stack(global uint32, way byte) {
	if m.MutableI32(global) {
		m.globals[global] |= way
		m.suspect = true
	}
}

// Grows reports whether somebody may grow the memory or use what others have added to it: see scan. It is also true if
// the memory is shared or imported, since its other owners may, and if the code is not among the parsed bytes.
//
//go:noinline
func (m *Module) Grows() bool {
	if !m.Memory.Exists {
		return false
	}
	if m.Memory.Imported || m.Memory.Shared {
		return true
	}
	m.scan()
	return m.sizes || m.sections[secCode].end == 0 && len(m.funcs) > m.imported
}
