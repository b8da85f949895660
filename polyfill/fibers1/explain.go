package fibers1

import "github.com/fiberfill/fiberfill/polyfill"

// Operation is an operation of this system, for messages.
type Operation uint8

const (
	OpNew Operation = iota
	OpSpawn
	OpSuspend
	OpResume
	OpSwitch
	OpRetire
	OpRetireTo
	OpRelease
	OpReturn
	OpThrow
	OpBlock
)

var operations = [...]struct{ name, state string }{
	OpNew:      {"fiber.new", ""},
	OpSpawn:    {"fiber.spawn", ""},
	OpSuspend:  {"fiber.suspend", "A-SUSPEND-1"},
	OpResume:   {"fiber.resume", "A-RESUME-1"},
	OpSwitch:   {"fiber.switch", "A-SWITCH-1"},
	OpRetire:   {"fiber.retire", "A-RETIRE-1"},
	OpRetireTo: {"fiber.retireto", "A-RETIRETO-1"},
	OpRelease:  {"fiber.release", "A-RELEASE-1"},
	OpReturn:   {"return", ""},
	OpThrow:    {"throw", ""},
	OpBlock:    {"event", ""},
}

// String returns the instruction's name in the document.
func (o Operation) String() string { return operations[o].name }

// Explain returns the rule by which the operation was refused, empty if it is a limit of the implementation.
func Explain(o Operation, t Trap) string {
	switch t {
	case polyfill.NullReference:
		return "A-PARENT-3"
	case polyfill.Over:
		return "A-STATE-2"
	case polyfill.UnknownTag:
		return "K-3"
	case polyfill.WrongPayload:
		if o == OpBlock {
			return "A-HDL-4"
		}
		return "K-4"
	case polyfill.Unhandled:
		return "A-HDL-7"
	case polyfill.WrongResults:
		if o == OpReturn {
			return "A-TYPE-1"
		}
		return "A-SWITCH-5"
	case polyfill.UnknownReference:
		return "K-7"
	case polyfill.Unreachable:
		return "K-9"
	case polyfill.NotSuspended, polyfill.NotInChain:
		return operations[o].state
	}
	return ""
}
