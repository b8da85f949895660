//go:build tinygo

// A guest with a collector, as TinyGo makes it by default for WASI: it looks for references between its stack pointer
// and the end of its one stack. It exports an allocator, too.
package main

import "unsafe"

//go:wasmimport fiberfill sleep_ms
func sleepMS(ms int32)

type box struct{ values [4]int32 }

// keep returns three times v, if the object that only its frame refers to still holds v when it has slept.
//
//export keep
func keep(v int32) int32 {
	own := &box{[4]int32{v, v, v, v}}
	lend(&own)
	sleepMS(1)
	return own.values[0] + own.values[1] + own.values[3]
}

// lend keeps the compiler from holding the reference anywhere but in the frame.
//
//go:noinline
func lend(b **box) {
	if (*b).values[0] < 0 {
		*b = nil
	}
}

var last *box

// churn allocates n objects and drops them, so that the collector runs. It returns -n.
//
//export churn
func churn(n int32) int32 {
	sum := int32(0)
	for range n {
		last = &box{[4]int32{-1, -1, -1, -1}}
		sum += last.values[1]
	}
	return sum
}

// lent are the stacks of fibers. They are few, and none is given back.
var lent [][]byte

//export malloc
func malloc(size uintptr) unsafe.Pointer {
	lent = append(lent, make([]byte, size))
	return unsafe.Pointer(unsafe.SliceData(lent[len(lent)-1]))
}

//export free
func free(unsafe.Pointer) {}

func main() {}
