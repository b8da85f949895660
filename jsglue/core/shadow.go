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

// plan is what choose tells: a shadow.Plan.
var plan struct{ source, why, size, allocator, params, wanders, refusal int32 }

// choose plans for the module that inspect has read, or whose header it has read; what it cannot tell of a header is
// told: the pointer and the growth. size may be 0, allocator negative. It returns where plan is.
//
//export choose
func choose(pointer, growth, bits, wanted int32, size uint32, allocator int32) uint32 {
	p := shadow.Choose(shadow.Guest{
		Module: &module, Pointer: pointer, Growth: wasm.Growth(growth), Imported: bits&imported != 0,
	}, shadow.Wish{
		Source: shadow.Source(wanted), Size: size, Allocator: allocator,
		Denied: bits&denied != 0, Own: bits&own != 0, AtOnce: bits&atOnce != 0,
	})
	plan.source, plan.why, plan.size = int32(p.Source), int32(p.Why), int32(p.Size)
	plan.allocator, plan.params = p.Allocator.Export, int32(p.Allocator.Params)
	plan.wanders = 0
	if p.Wanders {
		plan.wanders = 1
	}
	plan.refusal = int32(p.Refusal)
	return uint32(uintptr(unsafe.Pointer(&plan)))
}

// size_like_own is shadow.SizeLikeOwn.
//
//export size_like_own
func sizeLikeOwn(base, room, fibers uint32) uint32 { return shadow.SizeLikeOwn(base, room, fibers) }

// mend says what an overflow of a region has cost, in the input: n of shadow.Region. It returns how far the overflow
// has reached.
//
//export mend
func mend(n, overflowed, end uint32) uint32 {
	regions := unsafe.Slice((*shadow.Region)(unsafe.Pointer(unsafe.SliceData(source))), n)
	return shadow.Mend(regions, &regions[overflowed], end)
}
