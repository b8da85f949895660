package fibers1

import "github.com/fiberfill/fiberfill/polyfill"

type operation uint8

const (
	opNew operation = iota
	opSpawn
	opSuspend
	opResume
	opSwitch
	opRetire
	opRetireTo
	opRelease
	opReturn
	opThrow
	opBlock
)

var names = [...]string{
	opNew:      "fibers1.new",
	opSpawn:    "fibers1.spawn",
	opSuspend:  "fibers1.suspend",
	opResume:   "fibers1.resume",
	opSwitch:   "fibers1.switch",
	opRetire:   "fibers1.retire",
	opRetireTo: "fibers1.retireto",
	opRelease:  "fibers1.release",
	opReturn:   "fibers1.return",
	opThrow:    "fibers1.throw",
	opBlock:    "fibers1.block",
}

// states are the rules by which a fiber in a wrong state is refused.
var states = [opBlock + 1]string{
	opSuspend:  "A-SUSPEND-1",
	opResume:   "A-RESUME-1",
	opSwitch:   "A-SWITCH-1",
	opRetire:   "A-RETIRE-1",
	opRetireTo: "A-RETIRETO-1",
	opRelease:  "A-RELEASE-1",
}

// Operation returns the name of the last operation, as guests import it; the end of a function is return or throw.
func (s *System) Operation() string { return names[s.last] }

// Rule returns the rule by which the last operation was refused, empty if it is a limit of the implementation.
func (s *System) Rule(t Trap) string {
	switch t {
	case polyfill.NullReference:
		return "A-PARENT-3"
	case polyfill.Over:
		return "A-STATE-2"
	case polyfill.UnknownTag:
		return "K-3"
	case polyfill.NotTypes:
		return "K-4"
	case polyfill.WrongPayload:
		if s.last == opBlock {
			return "A-HDL-4"
		}
		return "K-4"
	case polyfill.Unhandled:
		return "A-HDL-7"
	case polyfill.WrongResults:
		if s.last == opReturn {
			return "A-TYPE-1"
		}
		return "A-SWITCH-5"
	case polyfill.UnknownReference:
		return "K-7"
	case polyfill.Unreachable:
		return "K-9"
	case polyfill.NotSuspended, polyfill.NotInChain:
		return states[s.last]
	}
	return ""
}

// Explain appends why the last operation was refused: the reason, the rule, what was expected and given, and what to
// do about it.
func (s *System) Explain(text []byte, t Trap) []byte {
	return s.Events.Refusal(&s.Machine).Append(text, t, s.Rule(t))
}
