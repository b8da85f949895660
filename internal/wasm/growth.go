package wasm

// Growth is what a module does about the size of its memory. It tells whether the module's allocator tolerates pages
// that something else has added.
type Growth byte

const (
	// Never: nothing in it asks how much memory there is, or adds any.
	Never Growth = iota
	// Adds: it executes memory.grow and makes an address of what this returns, as the allocators of Rust and Zig do.
	// Pages of others are holes between its own pages, which it tolerates.
	Adds
	// Asks: it executes memory.size, or memory.grow by 0, which asks the same. Such an allocator hands out all pages
	// that it finds, whatever has added them. So does one that makes no address of what memory.grow returns: it looks
	// only whether that has failed, and counts pages itself. Emscripten's modules ask, and have JavaScript grow the
	// memory. Memory that is shared or imported counts as Asks, too, since its other owners may do anything; so does a
	// module whose code is missing or cannot be read.
	Asks
	// Scans: it looks at where its stack ends: it passes the stack pointer to a call, compares it, subtracts it from
	// something, stores it, or has a function that returns it and is not for JavaScript. Code that only makes frames
	// does none of that. A collector does, which looks for references on the stack and finds those on one stack only;
	// so does a check that the stack does not overflow, and a scheduler of the guest's own that switches stacks. Such a
	// module tolerates no other stacks, wherever they are.
	Scans
)

// Growth reads the whole code.
func (m *Module) Growth() Growth {
	switch {
	case !m.Memory.Exists:
		return Never
	case m.sections[SectionCode].End == 0 && len(m.Funcs) > m.Imported:
		return Asks
	}
	m.scan()
	switch {
	case m.scans:
		return Scans
	case m.Memory.Imported || m.Memory.Shared:
		return Asks
	}
	return m.growth
}

// Room returns by how many pages memory may grow.
//
//go:noinline
func (m *Module) Room() uint32 { return m.Memory.Max - min(m.Memory.Min, m.Memory.Max) }

// Exported returns the index of the export that is a function of this name, or -1.
//
//go:noinline
func (m *Module) Exported(name string) int32 {
	r := Reader{Bin: m.bin}
	for i := range m.Exports {
		if e := &m.Exports[i]; e.Kind == KindFunc && r.is(e.name, name) {
			return int32(i)
		}
	}
	return -1
}

// Named returns the first function of the module's own that has this name in the name section, or -1.
//
//go:noinline
func (m *Module) Named(name string) int32 {
	r := Reader{Bin: m.bin, Pos: m.names.Start, End: m.names.End}
	for n := r.U32(); n > 0 && r.More(); n-- {
		f := r.U32()
		if r.is(r.Name(), name) && f >= uint32(m.Imported) && f < uint32(len(m.Funcs)) {
			return int32(f)
		}
	}
	return -1
}

// I32s returns how many parameters and results a function has. It returns [Others] for either if one is not an i32.
//
//go:noinline
func (m *Module) I32s(f uint32) (params, results uint32) {
	r := m.Signature(f)
	return r.i32s(), r.i32s()
}

// Others is what [Module.I32s] returns for types other than i32.
const Others = ^uint32(0)

// i32s reads a vector of value types and returns how many i32 it has, or Others.
//
//go:noinline
func (r *Reader) i32s() uint32 {
	n := r.U32()
	for i := n; i > 0 && r.Code == OK; i-- {
		if r.Peek() != typeI32 {
			n = Others
		}
		r.ValType()
	}
	return n
}
