package conformance

import "github.com/fiberfill/fiberfill/polyfill"

// System is which of the four systems a script is for.
type System string

const (
	Fibers1 System = "fibers1"
	Fibers2 System = "fibers2"
	Stacks  System = "stacks"
	Cont    System = "cont"
)

// Systems are all of them.
var Systems = []System{Fibers1, Fibers2, Stacks, Cont}

// Code is an operation.
type Code uint8

const (
	// In all systems.
	Return      Code = iota // leave the frame with values; the last frame is the function's
	Throw                   // throw an exception with the payload number
	Unreachable             // trap
	Call                    // enter a frame: what follows happens in a called function
	// In several.
	New
	Suspend
	Resume
	Switch
	Release
	// A.
	Spawn
	Retire
	RetireTo
	Handle // enter a handle with the event blocks On
	End    // leave it
	// B.
	Mount
	Dismount
	MountNew
	SwitchNew
	DismountRelease
	SwitchRelease
	// C.
	NewRef
	SwitchRetire
	SwitchThrow
	Bind
	ReturnSwitch
	ReturnSwitchThrow
	Host // Call, with a frame of the host between
	// D.
	BrOnEvt
	Forward
	ThrowInto
	codes
)

// Operands and tags that have no number.
const (
	Null    = -1 // reference; also: no tag
	Fake    = -2 // reference that was never handed out
	Foreign = -2 // tag of another machine
)

// Op is one operation. Fields that it does not have are zero, or Null.
type Op struct {
	Code  Code
	A, B  int8   // operands, in the order of the document
	Tag   int8   // of the event; for New in B: the return event
	N     int16  // payload number
	As    int8   // signature of what is sent, Null: that of the tag or the function
	On    []int8 // tags taken, the first wins
	Gives int8   // New: signature of the function's results
	Wants int8   // stacks: signature of what is awaited
	Maybe bool   // stacks: a null reference is admitted as well
	If    int16  // cont: a dynamic filter that admits events with this payload number; 0: none
	Catch bool   // exceptions that come out of this operation are caught
}

// Script is a list of operations for one system.
type Script struct {
	System System
	Ops    []Op
}

// Signatures are the lists of types that scripts use, s0, s1, ...
var Signatures = [...][]polyfill.Type{
	{},
	{polyfill.I32},
	{polyfill.I64, polyfill.F64},
	{polyfill.F32, polyfill.I32},
	{polyfill.Ref},
	{polyfill.NullRef},
	{polyfill.I32, polyfill.I64, polyfill.F64},
}

// Tags are the tags that scripts use, t0, t1, ...: their signatures, and the signatures of their answers in cont.
// t5 has those of t1, and is a different tag all the same (K-3).
var Tags = [...]struct{ Params, Results int8 }{{0, 0}, {1, 1}, {2, 1}, {3, 2}, {4, 0}, {1, 1}}

// Kind is what an outcome is.
type Kind uint8

const (
	Issued   Kind = iota // operation number Ref is performed by Who
	Made                 // a reference, number Ref
	Started              // the function of Who, made with the captured N, runs
	Taken                // an event, at Label
	Fell                 // next instruction: the event was not taken, or nothing is to be told
	Returned             // next instruction, with values
	Caught               // an exception
	NoMatch              // BrOnEvt
	Left                 // Who is back from a frame
	Exited               // the entry has returned
	Escaped              // an exception has left the entry
	Trapped              // a trap has ended the entry
)

// Outcome is one line of a transcript. Outcomes are compared by ==.
type Outcome struct {
	Kind   Kind
	Who    int16 // number of the computation; Root
	Label  int8
	Tag    int8 // Null: none
	N      int16
	Trap   polyfill.Trap
	Ref    int16 // number of a reference; Null
	Len    int8
	Types  polyfill.Types
	Values [3]uint64 // as in a register
}

// Root is the computation of the embedder's entry.
const Root = -1

// Substrate plays scripts. Every call of Play begins with a new system without fibers and leaves nothing behind; an
// implementation checks that by counting.
type Substrate interface {
	// Name is the column in the table of rules: go, wasm, jspi, wazero.
	Name() string
	// Play performs the operations and returns what was recorded. After the last operation it ends all computations.
	Play(s Script) ([]Outcome, error)
}
