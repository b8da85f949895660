package shadow

import "github.com/fiberfill/fiberfill/internal/wasm"

// An Allocator is an exported function that returns the address of so many bytes, by its parameters, all of which are
// i32:
//
//	malloc(size)    __wbindgen_malloc(size, align)    cabi_realloc(0, 0, align, size)
//
// Regions are kept, so nothing is ever given back to it.
type Allocator struct {
	Export int32 // which export; -1: none
	Params uint32
}

// Arguments returns the arguments that ask for so many bytes.
func (a Allocator) Arguments(size uint32) []uint64 {
	switch a.Params {
	case 1:
		return []uint64{uint64(size)}
	case 2:
		return []uint64{uint64(size), Slack}
	}
	return []uint64{0, 0, Slack, uint64(size)}
}

// Exposed is the name under which the module editor exports an allocator that the guest keeps to itself.
const Exposed = "fiberfill:malloc"

type pair struct{ name, free string }

// known are the names of allocators; the first that a guest has counts. If an allocator has a counterpart that frees,
// it counts only if the counterpart is there, too: half of such a pair is something else.
var known = [...]pair{
	{Exposed, ""},
	{"malloc", "free"},
	{"__libc_malloc", "__libc_free"},
	{"emscripten_builtin_malloc", "emscripten_builtin_free"},
	{"dlmalloc", "dlfree"},
	{"__wbindgen_malloc", ""},
	{"cabi_realloc", ""},
}

// find returns the allocator that is this export or, if it is negative, the first known one.
func find(m *wasm.Module, export int32) (Allocator, Refusal) {
	if export >= 0 {
		if e := &m.Exports[export]; e.Kind == wasm.KindFunc {
			if n := params(m, e.Index); n != 0 {
				return Allocator{export, n}, Granted
			}
		}
		return Allocator{Export: -1}, BadType
	}
	for i := range known {
		if n := known[i].params(m, false); n != 0 {
			return Allocator{m.Exported(known[i].name), n}, Granted
		}
	}
	return Allocator{Export: -1}, Granted
}

// Hidden returns the function to export as [Exposed], or -1. The function is an allocator that the name section knows,
// in a guest that exports none. m is of a whole module.
func Hidden(m *wasm.Module) int32 {
	if a, _ := find(m, -1); a.Export >= 0 {
		return -1
	}
	for i := range known {
		if known[i].params(m, true) != 0 {
			return m.Named(known[i].name)
		}
	}
	return -1
}

// params returns how many parameters a known allocator has in a guest, 0 if the guest does not have it. It looks among
// the exports, or in the name section.
//
//go:noinline
func (k *pair) params(m *wasm.Module, hidden bool) uint32 {
	f := look(m, k.name, hidden)
	if f < 0 {
		return 0
	}
	count := params(m, uint32(f))
	if k.free != "" {
		free := look(m, k.free, hidden)
		if free < 0 || count != 1 {
			return 0
		}
		if n, results := m.I32s(uint32(free)); n != 1 || results != 0 {
			return 0
		}
	}
	return count
}

// params returns how many parameters a function has that could be an allocator, 0 for any other.
//
//go:noinline
func params(m *wasm.Module, f uint32) uint32 {
	n, results := m.I32s(f)
	if results != 1 || n != 1 && n != 2 && n != 4 {
		return 0
	}
	return n
}

// look returns a function, or -1.
//
//go:noinline
func look(m *wasm.Module, name string, hidden bool) int32 {
	if hidden {
		return m.Named(name)
	}
	e := m.Exported(name)
	if e < 0 {
		return -1
	}
	return int32(m.Exports[e].Index)
}
