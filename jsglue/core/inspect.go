package main

import (
	"unsafe"

	"github.com/fiberfill/fiberfill/internal/shadow"
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/jsglue/stubs"
)

// The parser and the generator of stubs. The glue uses them in an instance of this module that it throws away
// afterwards, so that a large guest leaves no large memory behind; nothing here is ever freed.
//
// Bytes cross the border through this module's memory: input makes room, the glue writes there, and what is produced
// lies at output until the next call.
//
// A guest may have tens of megabytes, so that is the one copy of it: expose edits the input where it lies, and the glue
// gives the engine a view of it, which copies it at once.

// Names under which the module editor exports what the border needs and the guest does not export. If the guest already
// has the name, a number follows. The border does not look for the names: what is added comes after the guest's own
// exports.
const (
	exposedStackPointer = "fiberfill:stack_pointer"
	exposedMemory       = "fiberfill:memory"
)

var (
	source []byte
	module wasm.Module
	result []byte
)

// slack is room for what expose adds: three exports, and the head of their section. It is also why the input is never
// empty and has an address.
const slack = 128

// input makes room for n bytes and returns where.
//
//export input
func input(n int32) uint32 {
	source = make([]byte, n, n+slack)
	return address(source)
}

// found is what inspect tells.
var found struct {
	code, at int32 // 0, or what is wrong with the input (wasm.Code) and where
	exports  int32 // how many
	pointer  int32 // the global that holds the shadow stack's pointer, -1 if there is none, or wasm.CannotTell
	growth   int32 // wasm.Growth
	room     uint32
}

// inspect parses the first n bytes of the input, a module or the header of one, and returns where found is.
//
//export inspect
func inspect(n int32) uint32 {
	found.code = int32(wasm.Parse(source[:n], &module))
	found.at = int32(module.At)
	if found.code == int32(wasm.OK) {
		found.exports = int32(len(module.Exports))
		found.pointer = module.StackPointer()
		found.growth = int32(module.Growth())
		found.room = module.Room()
	}
	return uint32(uintptr(unsafe.Pointer(&found)))
}

// exposed is what expose tells: which exports are the pointer and memory 0, -1 for none; the size of the input now, and
// of what has to be kept of it beside a compiled module, which is its beginning.
var exposed struct{ pointer, memory, size, header int32 }

// expose edits the input, which inspect has read, so that it exports a global, its shadow stack's pointer, its
// allocator, and its memory, behind its own exports, if it does not export them already, and returns where exposed is.
// The global may be negative: it has none, and needs no allocator. If the global could not hold a pointer, expose
// returns 0.
//
//export expose
func expose(sp int32) uint32 {
	exposed.pointer = sp
	if sp >= 0 {
		if !module.MutableI32(uint32(sp)) {
			return 0
		}
		if f := shadow.Hidden(&module); f >= 0 {
			export(shadow.Exposed, wasm.KindFunc, uint32(f))
		}
		exposed.pointer = exported(exposedStackPointer, wasm.KindGlobal, sp, true)
	}
	exposed.memory = exported(exposedMemory, wasm.KindMemory, 0, module.Memory.Exists && !module.Memory.Imported)
	exposed.size = int32(len(source))
	exposed.header = int32(len(module.Header()))
	return uint32(uintptr(unsafe.Pointer(&exposed)))
}

// exported returns which export this is, or -1. With add, what is none yet becomes the last one.
//
//go:noinline
func exported(name string, kind byte, index int32, add bool) int32 {
	for i := range module.Exports {
		if e := &module.Exports[i]; e.Kind == kind && int32(e.Index) == index {
			return int32(i)
		}
	}
	if !add {
		return -1
	}
	export(name, kind, uint32(index))
	return int32(len(module.Exports)) - 1
}

//go:noinline
func export(name string, kind byte, index uint32) {
	from, to, section := module.ExportSection(module.FreeName(name), kind, index)
	edited := source[:len(source)+len(section)-(to-from)]
	copy(edited[from+len(section):], source[to:])
	copy(edited[from:], section)
	source = edited
	wasm.Parse(source, &module)
}

// trampolines returns the size of module A for the marks, of which there are n, at the beginning of the input that was
// made after inspect.
//
//export trampolines
func trampolines(n int32, tail bool) int32 {
	return give(stubs.AppendTrampolines(nil, &module, source[:n], tail))
}

// stubs returns the size of module B, likewise.
//
//export stubs
func appendStubs(n int32, pointer, regions bool) int32 {
	opt := stubs.Options{StackPointer: pointer, Regions: regions}
	return give(stubs.AppendStubs(nil, &module, source[:n], opt))
}

//export output
func output() uint32 { return address(result) }

func give(b []byte) int32 {
	result = b
	return int32(len(b))
}

func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
