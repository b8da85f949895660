package stacks

import "github.com/fiberfill/fiberfill/polyfill"

// Operation is an operation of this system, for messages.
type Operation uint8

const (
	OpNew Operation = iota
	OpNewRef
	OpSwitch
	OpSwitchRetire
	OpSwitchThrow
	OpReturnSwitch
	OpReturnSwitchThrow
	OpBind
	OpReturn
	OpThrow
)

var operations = [...]string{
	OpNew:               "stack.new",
	OpNewRef:            "stack.new_ref",
	OpSwitch:            "switch",
	OpSwitchRetire:      "switch_retire",
	OpSwitchThrow:       "switch_throw",
	OpReturnSwitch:      "return_switch",
	OpReturnSwitchThrow: "return_switch_throw",
	OpBind:              "stack.bind",
	OpReturn:            "return",
	OpThrow:             "throw",
}

// String returns the instruction's name in the document.
func (o Operation) String() string { return operations[o] }

// Explain returns the rule by which the operation was refused, empty if it is a limit of the implementation.
func Explain(o Operation, t Trap) string {
	switch t {
	case polyfill.NullReference, polyfill.StaleToken:
		switch {
		case o == OpNewRef:
			return "C-NEWREF-1"
		case o == OpBind:
			return "C-BIND-3"
		case o == OpSwitchRetire:
			return "C-RETIRE-3"
		case t == polyfill.NullReference:
			return "C-REF-3"
		}
		return "C-REF-2"
	case polyfill.WrongPayload:
		if o == OpSwitchRetire {
			return "C-RETIRE-1"
		}
		return "C-TYPE-4"
	case polyfill.EntryRetired:
		return "C-RETIRE-5"
	case polyfill.HostFrames:
		return "C-SWITCH-7"
	case polyfill.FunctionReturned:
		return "C-RET-1"
	case polyfill.FunctionThrew:
		return "C-EXC-1"
	case polyfill.Unreachable:
		return "K-9"
	}
	return ""
}
