package wasm

// StackPointer returns the index of the global that holds the guest's shadow-stack pointer, -1 if it has none, or
// [CannotTell]. It is the first of these that is a mutable i32:
//
//   - the export "__stack_pointer"
//   - the global with that name in the name section, or the import env.__stack_pointer
//   - the global that Emscripten's function for the current stack pointer returns, if the module exports that function
//     and the stack does not grow up
//   - the first mutable i32 that the module defines, if its initial value could be the end of a stack (a constant above
//     0, within memory 0, divisible by 16) and the code uses it as a stack pointer: see scan. The common toolchains
//     write modules of this form, also without names.
//
// A module without a memory has no stack pointer. The result is [CannotTell]
//
//   - for a stack that grows up, since a fiber's stack would have to begin at the other end of its region
//   - for a 64-bit memory with a mutable i64, which may be a stack pointer that the stubs cannot set, or beside another
//     memory, in which a stack may lie
//   - for a second stack, which a program has that wasm-merge has put together of several: a fiber has a region in
//     place of only one
//   - for a stack beside a second memory, as it may lie in either
//
//go:noinline
func (m *Module) StackPointer() int32 {
	if !m.Memory.Exists {
		return -1
	}
	if m.Memory.Is64 {
		if m.wide || m.stacks > 0 {
			return CannotTell
		}
		return -1
	}
	m.scan()
	if m.stacks > 1 {
		return CannotTell
	}
	if e := m.export(stackPointer); e != nil && e.Kind == KindGlobal && m.MutableI32(e.Index) {
		return int32(e.Index)
	}
	if m.named >= 0 && m.MutableI32(uint32(m.named)) {
		return m.named
	}
	if m.told >= 0 && m.globals[m.told]&(falls|rises) != rises {
		return m.told
	}
	if m.shaped >= 0 && m.globals[m.shaped]&falls != 0 {
		return m.shaped
	}
	if m.suspect {
		return CannotTell
	}
	return -1
}

// candidate returns the global that scan takes for the stack pointer.
//
//go:noinline
func (m *Module) candidate() int32 {
	if m.named >= 0 {
		return m.named
	}
	return m.shaped
}

// tells returns the function that Emscripten exports to tell the stack pointer, or -1. (It has had three names.)
//
//go:noinline
func (m *Module) tells() int32 {
	e := m.export("emscripten_stack_get_current")
	if e == nil {
		e = m.export("_emscripten_stack_get_current")
	}
	if e == nil {
		e = m.export("stackSave")
	}
	if e == nil || e.Kind != KindFunc {
		return -1
	}
	return int32(e.Index)
}

// export returns the export of that name, or nil.
//
//go:noinline
func (m *Module) export(name string) *Export {
	r := Reader{Bin: m.bin}
	for i := range m.Exports {
		if e := &m.Exports[i]; r.is(e.name, name) {
			return e
		}
	}
	return nil
}

// CannotTell is what [Module.StackPointer] returns where a module seems to have a stack, but none of the rules finds
// its pointer: the user has to name it.
const CannotTell = -2

// MutableI32 reports whether there is a global with this index that could hold a stack pointer.
func (m *Module) MutableI32(global uint32) bool {
	return global < uint32(len(m.globals)) && m.globals[global]&mutableI32 != 0
}

// unseen is the value of Module.shaped until the module has defined a mutable i32.
const unseen = -2

// shape returns the index of the global that is being read if its initial value could be the end of a stack, else -1.
//
//go:noinline
func (m *Module) shape(r *Reader) int32 {
	if r.Byte() != OpI32Const {
		return -1
	}
	// In pages, so that a memory of 4 GiB does not overflow.
	v := r.Leb()
	if r.Byte() != OpEnd || v == 0 || v%16 != 0 || (v-1)>>16 >= m.Memory.Min {
		return -1
	}
	return int32(len(m.globals))
}

// Name returns the name of an export, a part of the parsed bytes.
func (m *Module) Name(e Export) []byte { return m.bin[e.name.Start:e.name.End] }

// custom looks into a custom section: where the name section has the names of functions, and which global it calls
// __stack_pointer. A custom section cannot make a module invalid, so whatever is wrong in it is only a reason to look
// no further.
//
//go:noinline
func (m *Module) custom(section *Reader) {
	r := *section
	if !r.is(r.Name(), "name") {
		return
	}
	for r.More() {
		id, size := r.Byte(), r.U32()
		if id != nameGlobals {
			at := r.Pos
			if r.Skip(size); id == nameFunctions && r.Code == OK {
				m.names = Span{at, r.Pos}
			}
			continue
		}
		for n := r.U32(); n > 0 && r.Code == OK; n-- {
			i := r.U32()
			if r.is(r.Name(), stackPointer) && r.Code == OK {
				m.named = int32(i)
			}
		}
		return
	}
}

// Subsections of the name section.
const (
	nameFunctions = 1
	nameGlobals   = 7
)
