package cont

import "github.com/fiberfill/fiberfill/polyfill"

// Operation is an operation of this system, for messages.
type Operation uint8

const (
	OpNew Operation = iota
	OpResume
	OpSuspend
	OpForward
	OpThrow
	OpBrOnEvt
	OpReturn
	OpEnd
)

var operations = [...]struct{ name, reference string }{
	OpNew:     {"cont.new", "D-NEW-1"},
	OpResume:  {"cont.resume", "D-RESUME-6"},
	OpSuspend: {"cont.suspend", ""},
	OpForward: {"cont.forward", "D-FWD-5"},
	OpThrow:   {"cont.throw", "D-ONE-1"},
	OpBrOnEvt: {"br_on_evt", "K-2"},
	OpReturn:  {"return", ""},
	OpEnd:     {"throw", ""},
}

// String returns the instruction's name in the document.
func (o Operation) String() string { return operations[o].name }

// Explain returns the rule by which the operation was refused, empty if it is a limit of the implementation.
func Explain(o Operation, t Trap) string {
	switch t {
	case polyfill.NullReference, polyfill.StaleToken:
		return operations[o].reference
	case polyfill.NoContinuation:
		if o == OpForward {
			return "D-FWD-5"
		}
		return "D-SUSPEND-4"
	case polyfill.UnknownTag:
		return "K-3"
	case polyfill.WrongPayload:
		if o == OpResume {
			return "D-SUSPEND-3"
		}
		return "K-4"
	case polyfill.WrongResults:
		return "D-TYPE-1"
	case polyfill.Unreachable:
		return "K-9"
	}
	return ""
}
