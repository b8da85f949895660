// Command proposals is the machine of a guest that has fibers of its own: the four systems of package polyfill behind
// functions that take and return numbers. It imports nothing. Only pages whose guests import an operation load it, and
// each such guest has an instance, which is one machine.
//
// # The wire contract
//
// The other side is jsglue/src/proposals/systems.ts; the two change together. use says first which of the systems it
// is. Fibers, tags, tables and lists of types cross the border as their 32 bits, single-use references as two times 32.
// Booleans are 0 and 1.
//
// Every operation returns its trap, 0 if there is none, and has left what follows in the plan, which lies at plan as 32
// bits a word:
//
//	 0 From      who has issued the operation; 0 is the root
//	 1 To        who runs now
//	 2 Delivers  0 values, 1 an exception, 2 nothing, 3 a question
//	 3 Label     -1 the next instruction
//	 4 Tag
//	 5 Types
//	 6 Made      a fiber
//	 7 Token     a single-use reference: the fiber that it denotes,
//	 8           and its number
//	 9 Ends      where the list of the fibers that have ended lies,
//	10           and its length: who carries the plan out empties it
//
// [polyfill.Plan] says what they mean. An operation after which the issuer goes on (new, bind, tag, table, br_on_evt)
// leaves what it has made in Made or in Token. explain writes why the last operation was refused.
//
// Values never come here: they go from one event of the guest to the other. As with the scheduler no function calls
// out; a trap in here is a bug of ours.
package main

import (
	"unsafe"

	"github.com/fiberfill/fiberfill/polyfill"
)

type (
	fiber = polyfill.Fiber
	tag   = polyfill.Tag
	table = polyfill.Table
	types = polyfill.Types
	token = polyfill.Token
)

var (
	system  int32 // as in use
	machine *polyfill.Machine
	events  *polyfill.Events
	next    *polyfill.Plan

	text []byte
	list []tag
)

// use chooses the system: 1 fibers1, 2 fibers2, 3 stacks, 4 cont.
//
//export use
func use(which int32) {
	system = which
	switch which {
	case 1:
		machine, events, next = &ofFibers1.Machine, &ofFibers1.Events, &ofFibers1.Plan
	case 2:
		machine, events, next = &ofFibers2.Machine, &ofFibers2.Events, &ofFibers2.Plan
	case 3:
		machine, events, next = &ofStacks.Machine, new(polyfill.Events), &ofStacks.Plan
	case 4:
		machine, events, next = &ofCont.Machine, &ofCont.Events, &ofCont.Plan
	}
}

//export plan
func plan() uintptr { return uintptr(unsafe.Pointer(next)) }

// made leaves a number that an operation has made in the plan.
func made[N ~uint32](n N, trap polyfill.Trap) int32 {
	next.Made = fiber(n)
	return int32(trap)
}

// minted leaves a single-use reference in the plan.
func minted(t token, trap polyfill.Trap) int32 {
	next.Token = t
	return int32(trap)
}

func reference(f, number uint32) token { return polyfill.TokenOf(uint64(number)<<32 | uint64(f)) }

func event(t, payload uint32) polyfill.Event {
	return polyfill.Event{Tag: tag(t), Payload: types(payload)}
}

// --- tags and tables

//export tag
func newTag(params, results uint32) int32 {
	t := events.NewTag(types(params), types(results))
	if t == 0 {
		return int32(polyfill.NotTypes)
	}
	return made(t, polyfill.OK)
}

// tags returns where n tags are to be written, for table.
//
//export tags
func tags(n int32) uintptr {
	if int(n) >= len(list) {
		list = make([]tag, n+1)
	}
	return uintptr(unsafe.Pointer(&list[0]))
}

// newTable makes the table of the first n of tags.
//
//export table
func newTable(n int32) int32 {
	t, ok := events.NewTable(list[:n]...)
	if !ok {
		return int32(polyfill.UnknownTag)
	}
	return made(t, polyfill.OK)
}

// --- what all systems have

// enter begins an entry. It returns the fiber that the entry is, 0 if it is below all fibers and has no reference.
//
//export enter
func enter() uint32 {
	if system != 3 {
		return 0
	}
	f, _ := ofStacks.Enter()
	return uint32(f)
}

// leave ends an entry.
//
//export leave
func leave() {
	machine.Unwind()
	if system == 3 {
		ofStacks.Leave()
	}
}

// host says that frames of the host are on the active fiber's stack (1), or no longer (-1). Only stacks bears them,
// until an operation would park the stack.
//
//export host
func host(frames int32) int32 {
	if system != 3 {
		return int32(polyfill.HostFrames)
	}
	ofStacks.Host(frames)
	return int32(polyfill.OK)
}

// returned is the end of the function of the active fiber, which has returned values of these types.
//
//export returned
func returned(results uint32) int32 {
	switch system {
	case 1:
		return int32(ofFibers1.Returned(types(results)))
	case 2:
		return int32(ofFibers2.Returned(types(results)))
	case 3:
		return int32(ofStacks.Returned(types(results)))
	}
	return int32(ofCont.Returned(types(results)))
}

// threw is the end of the function of the active fiber, which has let out an exception.
//
//export threw
func threw() int32 {
	switch system {
	case 1:
		return int32(ofFibers1.Threw())
	case 2:
		return int32(ofFibers2.Threw())
	case 3:
		return int32(ofStacks.Threw())
	}
	return int32(ofCont.Threw())
}

// unwind is what follows a trap.
//
//export unwind
func unwind() { next.Unwind(machine) }

// abandon replaces a plan that cannot be carried out because there is no stack for the fiber that should run.
//
//export abandon
func abandon() { next.Abandon(machine) }

// end ends a suspended fiber on behalf of the embedder, and adds to Ends.
//
//export end
func end(f uint32) int32 { return int32(next.End(machine, fiber(f))) }

//export state
func state(f uint32) int32 { return int32(machine.State(fiber(f))) }

// explain writes why the last operation was refused, and what to do about it, and returns the length; it is at text.
//
//export explain
func explain(code int32) int32 {
	t := polyfill.Trap(code)
	text = text[:0]
	switch system {
	case 1:
		text = ofFibers1.Explain(text, t)
	case 2:
		text = ofFibers2.Explain(text, t)
	case 3:
		text = ofStacks.Explain(text, t)
	case 4:
		text = ofCont.Explain(text, t)
	}
	return int32(len(text))
}

//export text
func textAt() *byte { return &text[0] }

func main() {}
