package main

import (
	"unsafe"

	"github.com/fiberfill/fiberfill/internal/shadow"
	"github.com/fiberfill/fiberfill/internal/wasm"
)

// The policy for shadow stacks (package shadow), for guests of the page: in the same instance that reads modules.

// Bits of what choose is told.
const (
	denied = 1 << iota
	own
	atOnce
	imported
)

var plan shadow.Plan

// choose plans for the module that inspect has read, or whose header it has read; what it cannot tell of a header is
// told: the pointer and the growth. size may be 0, allocator negative. It returns the size of the plan, which has the
// layout of shadow.Plan.
//
//go:wasmexport choose
func choose(pointer, growth, bits, wanted int32, size uint32, allocator int32) int32 {
	plan = shadow.Choose(shadow.Guest{
		Module: &module, Pointer: pointer, Growth: wasm.Growth(growth), Imported: bits&imported != 0,
	}, shadow.Wish{
		Source: shadow.Source(wanted), Size: size, Allocator: allocator,
		Denied: bits&denied != 0, Own: bits&own != 0, AtOnce: bits&atOnce != 0,
	})
	return give(unsafe.Slice((*byte)(unsafe.Pointer(&plan)), unsafe.Sizeof(plan)))
}

// why returns the size of the text of a shadow.Why.
//
//go:wasmexport why
func why(w int32) int32 {
	text := shadow.Why(w).String()
	return give(unsafe.Slice(unsafe.StringData(text), len(text)))
}

// size_like_own is shadow.SizeLikeOwn.
//
//go:wasmexport size_like_own
func sizeLikeOwn(base, room, fibers uint32) uint32 { return shadow.SizeLikeOwn(base, room, fibers) }

// mend says what an overflow of a region has cost, in the input: n of shadow.Region. It returns how far the overflow
// has reached.
//
//go:wasmexport mend
func mend(n, overflowed, end uint32) uint32 {
	regions := unsafe.Slice((*shadow.Region)(unsafe.Pointer(unsafe.SliceData(source))), n)
	return shadow.Mend(regions, &regions[overflowed], end)
}
