// Command proposals is the machine of a guest that has fibers of its own: the four systems of package polyfill behind
// functions that take and return numbers. It imports nothing. Only pages whose guests import an operation load it, and
// each such guest has an instance, which is one machine.
//
// # The wire contract
//
// The other side is jsglue/src/proposals/systems.ts; the two change together. use says first which of the systems it is. Fibers,
// tags, tables and lists of types cross the border as their 32 bits, single-use references as two times 32. Every
// operation returns its trap, 0 if there is none, and has left its answer in the four words at out: who runs now, at
// which label, and the number of a reference, of which the fiber stands in the last word. explain writes why the last
// operation was refused. Booleans are 0 and 1.
//
// Values never come here: they go from one event of the guest to the other. As with the scheduler no function calls
// out; a trap in here is a bug of ours.
package main

import (
	"unsafe"

	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/cont"
	"github.com/fiberfill/fiberfill/polyfill/fibers1"
	"github.com/fiberfill/fiberfill/polyfill/fibers2"
	"github.com/fiberfill/fiberfill/polyfill/stacks"
)

type (
	fiber = polyfill.Fiber
	tag   = polyfill.Tag
	table = polyfill.Table
	types = polyfill.Types
	token = polyfill.Token
)

// The places in out.
const (
	outTo = iota
	outLabel
	outNumber // of a single-use reference: of the sender, or newly made
	outFiber  // that it denotes; or the tag as which results arrive
	outWords
)

var (
	system  int32 // as in use
	machine *polyfill.Machine
	events  *polyfill.Events

	out       [outWords]uint32
	operation uint8 // the last one, for explain
	buffer    []byte
	list      []tag
)

// use chooses the system: 1 fibers1, 2 fibers2, 3 stacks, 4 cont.
//
//go:wasmexport use
func use(which int32) {
	system = which
	switch which {
	case 1:
		machine, events = &v1.Machine, &v1.Events
	case 2:
		machine, events = &v2.Machine, &v2.Events
	case 3:
		machine, events = &coroutines.Machine, new(polyfill.Events)
	case 4:
		machine, events = &continuations.Machine, &continuations.Events
	}
}

//go:wasmexport out
func outAt() *uint32 { return &out[0] }

// --- tags and tables

//go:wasmexport tag
func newTag(params, results uint32) uint32 {
	return uint32(events.NewTag(types(params), types(results)))
}

// tags returns where n tags are to be written, for table.
//
//go:wasmexport tags
func tags(n int32) uintptr {
	if int(n) >= len(list) {
		list = make([]tag, n+1)
	}
	return uintptr(unsafe.Pointer(&list[0]))
}

// newTable returns the number of the list of the first n of tags, -1 if one of them is not a tag.
//
//go:wasmexport table
func newTable(n int32) int32 {
	t, ok := events.NewTable(list[:n]...)
	if !ok {
		return -1
	}
	return int32(t)
}

// --- the machine

//go:wasmexport active
func active() uint32 { return uint32(machine.Active()) }

//go:wasmexport parent
func parent(f uint32) uint32 { return uint32(machine.Parent(fiber(f))) }

//go:wasmexport leaf
func leaf(f uint32) uint32 { return uint32(machine.Leaf(fiber(f))) }

//go:wasmexport state
func state(f uint32) int32 { return int32(machine.State(fiber(f))) }

//go:wasmexport kill
func kill(f uint32) int32 { return int32(machine.Kill(fiber(f))) }

//go:wasmexport unwind
func unwind() { machine.Unwind() }

// --- messages

// explain writes the words for a trap of the last operation, and the rule behind them, and returns their length; they
// are at text.
//
//go:wasmexport explain
func explain(code int32) int32 {
	trap := polyfill.Trap(code)
	rule := ""
	switch system {
	case 1:
		rule = fibers1.Explain(fibers1.Operation(operation), trap)
	case 2:
		rule = fibers2.Explain(fibers2.Operation(operation), trap)
	case 3:
		rule = stacks.Explain(stacks.Operation(operation), trap)
	case 4:
		rule = cont.Explain(cont.Operation(operation), trap)
	}
	buffer = append(buffer[:0], trap.String()...)
	if rule != "" {
		buffer = append(buffer, " ["...)
		buffer = append(buffer, rule...)
		buffer = append(buffer, ']')
	}
	return int32(len(buffer))
}

//go:wasmexport text
func text() *byte { return &buffer[0] }

// --- for the four systems

// moved leaves a transition in out, with no reference.
func moved(to polyfill.Transition, trap polyfill.Trap) int32 {
	out = [outWords]uint32{outTo: uint32(to.To), outLabel: uint32(to.Label)}
	return int32(trap)
}

// minted leaves a single-use reference in out, after what moved has left.
func minted(t token, trap polyfill.Trap) int32 {
	bits := t.Bits()
	out[outFiber], out[outNumber] = uint32(bits), uint32(bits>>32)
	return int32(trap)
}

func reference(f, number uint32) token {
	return polyfill.TokenOf(uint64(number)<<32 | uint64(f))
}

func event(t, payload uint32) polyfill.Event {
	return polyfill.Event{Tag: tag(t), Payload: types(payload)}
}

func main() {}
