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
//go:wasmexport input
func input(n int32) uint32 {
	source = make([]byte, n, n+slack)
	return address(source)
}

// inspect parses the first n bytes of the input, a module or the header of one. It returns 0 or what is wrong with them
// (wasm.Code); error_at tells where.
//
//go:wasmexport inspect
func inspect(n int32) int32 { return int32(wasm.Parse(source[:n], &module)) }

//go:wasmexport error_at
func errorAt() int32 { return int32(module.At) }

// stack_pointer returns the global that holds the shadow stack's pointer, -1 if there is none, or wasm.CannotTell.
//
//go:wasmexport stack_pointer
func stackPointer() int32 { return module.StackPointer() }

// mutable_i32 reports whether there is such a global.
//
//go:wasmexport mutable_i32
func mutableI32(global uint32) bool { return module.MutableI32(global) }

// exports returns how many exports there are.
//
//go:wasmexport exports
func exports() int32 { return int32(len(module.Exports)) }

// expose edits the input, which inspect has read, so that it exports a global, its shadow stack's pointer, its
// allocator, and its memory, behind its own exports, and returns by how many bytes it is longer now: 0 if it does
// export them already. The global may be -1: it has none, and needs no allocator. What is asked afterwards is answered
// for the edited input.
//
//go:wasmexport expose
func expose(sp int32) int32 {
	before := len(source)
	if sp >= 0 {
		if f := shadow.Hidden(&module); f >= 0 {
			export(shadow.Exposed, wasm.KindFunc, uint32(f))
		}
		if exportOf(sp) < 0 {
			export(exposedStackPointer, wasm.KindGlobal, uint32(sp))
		}
	}
	if module.Memory.Exists && !module.Memory.Imported && memoryExport() < 0 {
		export(exposedMemory, wasm.KindMemory, 0)
	}
	return int32(len(source) - before)
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

// header returns the size of what has to be kept of the input beside a compiled module.
//
//go:wasmexport header
func header() int32 { return give(module.Header()) }

// export_of returns which export a global is, or -1.
//
//go:wasmexport export_of
func exportOf(global int32) int32 { return findExport(wasm.KindGlobal, global) }

// memory_export returns which export is memory 0, or -1.
//
//go:wasmexport memory_export
func memoryExport() int32 { return findExport(wasm.KindMemory, 0) }

//go:noinline
func findExport(kind byte, index int32) int32 {
	for i := range module.Exports {
		if e := &module.Exports[i]; e.Kind == kind && int32(e.Index) == index {
			return int32(i)
		}
	}
	return -1
}

// growth returns the wasm.Growth of the input, a whole module.
//
//go:wasmexport growth
func growth() int32 { return int32(module.Growth()) }

// room returns by how many pages the memory may grow.
//
//go:wasmexport room
func room() uint32 { return module.Room() }

// trampolines returns the size of module A for the marks, of which there are n, at the beginning of the input that was
// made after inspect.
//
//go:wasmexport trampolines
func trampolines(n int32, tail bool) int32 {
	return give(stubs.AppendTrampolines(nil, &module, source[:n], tail))
}

// stubs returns the size of module B, likewise.
//
//go:wasmexport stubs
func appendStubs(n int32, pointer, regions bool) int32 {
	opt := stubs.Options{StackPointer: pointer, Regions: regions}
	return give(stubs.AppendStubs(nil, &module, source[:n], opt))
}

//go:wasmexport output
func output() uint32 { return address(result) }

func give(b []byte) int32 {
	result = b
	return int32(len(b))
}

func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
