package fibers2

import "github.com/fiberfill/fiberfill/polyfill"

// Operation is an operation of this system, for messages.
type Operation uint8

const (
	OpNew Operation = iota
	OpMount
	OpSwitch
	OpDismount
	OpRelease
	OpMountNew
	OpSwitchNew
	OpDismountRelease
	OpSwitchRelease
	OpReturn
	OpThrow
)

var operations = [...]struct{ name, state string }{
	OpNew:             {"fiber.new", ""},
	OpMount:           {"fiber.mount", "B-MOUNT-1"},
	OpSwitch:          {"fiber.switch", "B-SWITCH-2"},
	OpDismount:        {"fiber.dismount", "B-DISMOUNT-1"},
	OpRelease:         {"fiber.release", "B-RELEASE-1"},
	OpMountNew:        {"fiber.mount_new", ""},
	OpSwitchNew:       {"fiber.switch_new", "B-SNEW-1"},
	OpDismountRelease: {"fiber.dismount_release", "B-DISMOUNT-1"},
	OpSwitchRelease:   {"fiber.switch_release", "B-SWITCH-2"},
	OpReturn:          {"return", ""},
	OpThrow:           {"throw", ""},
}

// String returns the instruction's name in the document.
func (o Operation) String() string { return operations[o].name }

// Explain returns the rule by which the operation was refused, empty if it is a limit of the implementation.
func Explain(o Operation, t Trap) string {
	switch t {
	case polyfill.NullReference:
		if o == OpRelease {
			return "B-RELEASE-5"
		}
		return "K-2"
	case polyfill.UnknownReference:
		return "K-7"
	case polyfill.Over:
		return "B-STATE-1"
	case polyfill.UnknownTag:
		return "K-3"
	case polyfill.WrongPayload:
		return "K-4"
	case polyfill.Unhandled:
		return "B-NEW-6"
	case polyfill.Unreachable:
		return "K-9"
	case polyfill.NotInChain:
		return operations[o].state
	case polyfill.NotSuspended:
		switch o {
		case OpSwitch:
			return "B-SWITCH-3"
		case OpSwitchRelease:
			return "B-SREL-2"
		}
		return operations[o].state
	}
	return ""
}
