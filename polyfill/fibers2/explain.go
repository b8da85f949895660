package fibers2

import "github.com/fiberfill/fiberfill/polyfill"

type operation uint8

const (
	opNew operation = iota
	opMount
	opSwitch
	opDismount
	opRelease
	opMountNew
	opSwitchNew
	opDismountRelease
	opSwitchRelease
	opReturn
	opThrow
)

var names = [...]string{
	opNew:             "fibers2.new",
	opMount:           "fibers2.mount",
	opSwitch:          "fibers2.switch",
	opDismount:        "fibers2.dismount",
	opRelease:         "fibers2.release",
	opMountNew:        "fibers2.mount_new",
	opSwitchNew:       "fibers2.switch_new",
	opDismountRelease: "fibers2.dismount_release",
	opSwitchRelease:   "fibers2.switch_release",
	opReturn:          "fibers2.return",
	opThrow:           "fibers2.throw",
}

// states are the rules by which a fiber in a wrong state is refused.
var states = [opThrow + 1]string{
	opMount:           "B-MOUNT-1",
	opSwitch:          "B-SWITCH-2",
	opDismount:        "B-DISMOUNT-1",
	opRelease:         "B-RELEASE-1",
	opSwitchNew:       "B-SNEW-1",
	opDismountRelease: "B-DISMOUNT-1",
	opSwitchRelease:   "B-SWITCH-2",
}

// Operation returns the name of the last operation, as guests import it; the end of a function is return or throw.
func (s *System) Operation() string { return names[s.last] }

// Rule returns the rule by which the last operation was refused, empty if it is a limit of the implementation.
func (s *System) Rule(t Trap) string {
	switch t {
	case polyfill.NullReference:
		if s.last == opRelease {
			return "B-RELEASE-5"
		}
		return "K-2"
	case polyfill.UnknownReference:
		return "K-7"
	case polyfill.Over:
		return "B-STATE-1"
	case polyfill.UnknownTag:
		return "K-3"
	case polyfill.NotTypes:
		return "K-4"
	case polyfill.WrongPayload:
		return "K-4"
	case polyfill.Unhandled:
		return "B-NEW-6"
	case polyfill.Unreachable:
		return "K-9"
	case polyfill.NotInChain:
		return states[s.last]
	case polyfill.NotSuspended:
		switch s.last {
		case opSwitch:
			return "B-SWITCH-3"
		case opSwitchRelease:
			return "B-SREL-2"
		}
		return states[s.last]
	}
	return ""
}

// Explain appends why the last operation was refused: the reason, the rule, what was expected and given, and what to
// do about it.
func (s *System) Explain(text []byte, t Trap) []byte {
	return s.Events.Refusal(&s.Machine).Append(text, t, s.Rule(t))
}
