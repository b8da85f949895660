package run

import (
	"bytes"
	"runtime"
	"strconv"
	"unsafe"
)

// owner is the goroutine that a computation runs on. An operation must come from there; from anywhere else it is a
// second thread of control.
//
// Go does not tell a goroutine's identity cheaply: asking costs a microsecond, ten times as much as a switch. But owner
// knows where the goroutine's stack was at the last operation. Two stacks never share a block of minStack bytes, so an
// address inside the range seen so far is on the same goroutine. For an address outside, owner asks and extends the
// range. A stack that has moved leaves behind a range in which another goroutine would go unnoticed. That loses a
// message, but never breaks a correct program.
type owner struct {
	low, size uintptr
	goroutine uint64
}

// minStack is the size of the smallest stack, to which all stacks are aligned.
const minStack = 2048

func (o *owner) claim() {
	var here byte
	o.low, o.size = uintptr(unsafe.Pointer(&here))&^(minStack-1), minStack
	o.goroutine = goroutine()
}

// is reports whether the caller runs on the owner's goroutine.
func (o *owner) is() bool {
	var here byte
	at := uintptr(unsafe.Pointer(&here))
	return at-o.low < o.size || o.ask(at)
}

//go:noinline
func (o *owner) ask(at uintptr) bool {
	if goroutine() != o.goroutine {
		return false
	}
	at &^= minStack - 1
	low, high := min(o.low, at), max(o.low+o.size, at+minStack)
	if high-low > 64*minStack {
		low, high = at, at+minStack // the stack has moved
	}
	o.low, o.size = low, high-low
	return true
}

// goroutine returns the number of the calling goroutine, from the first line of its trace.
func goroutine() uint64 {
	var buffer [32]byte
	line := buffer[:runtime.Stack(buffer[:], false)]
	line = bytes.TrimPrefix(line, []byte("goroutine "))
	if i := bytes.IndexByte(line, ' '); i >= 0 {
		line = line[:i]
	}
	n, _ := strconv.ParseUint(string(line), 10, 64)
	return n
}
