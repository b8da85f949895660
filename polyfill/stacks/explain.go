package stacks

import "github.com/fiberfill/fiberfill/polyfill"

type operation uint8

const (
	opNew operation = iota
	opNewRef
	opSwitch
	opSwitchRetire
	opSwitchThrow
	opReturnSwitch
	opReturnSwitchThrow
	opBind
	opReturn
	opThrow
)

var names = [...]string{
	opNew:               "stacks.new",
	opNewRef:            "stacks.new_ref",
	opSwitch:            "stacks.switch",
	opSwitchRetire:      "stacks.switch_retire",
	opSwitchThrow:       "stacks.switch_throw",
	opReturnSwitch:      "stacks.return_switch",
	opReturnSwitchThrow: "stacks.return_switch_throw",
	opBind:              "stacks.bind",
	opReturn:            "stacks.return",
	opThrow:             "stacks.throw",
}

// Operation returns the name of the last operation, as guests import it; the end of a function is return or throw.
func (s *System) Operation() string { return names[s.last] }

// Rule returns the rule by which the last operation was refused, empty if it is a limit of the implementation.
func (s *System) Rule(t Trap) string {
	switch t {
	case polyfill.NullReference, polyfill.StaleToken:
		switch {
		case s.last == opNewRef:
			return "C-NEWREF-1"
		case s.last == opBind:
			return "C-BIND-3"
		case s.last == opSwitchRetire:
			return "C-RETIRE-3"
		case t == polyfill.NullReference:
			return "C-REF-3"
		}
		return "C-REF-2"
	case polyfill.NotTypes:
		return "K-4"
	case polyfill.WrongPayload:
		if s.last == opSwitchRetire {
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

// Explain appends why the last operation was refused: the reason, the rule, what was expected and given, and what to
// do about it.
func (s *System) Explain(text []byte, t Trap) []byte {
	return s.Machine.Refusal(s.expected, s.actual).Append(text, t, s.Rule(t))
}
