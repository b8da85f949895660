package cont

import "github.com/fiberfill/fiberfill/polyfill"

type operation uint8

const (
	opNew operation = iota
	opResume
	opSuspend
	opForward
	opThrow
	opBrOnEvt
	opReturn
	opThrew
)

var names = [...]string{
	opNew:     "cont.new",
	opResume:  "cont.resume",
	opSuspend: "cont.suspend",
	opForward: "cont.forward",
	opThrow:   "cont.throw",
	opBrOnEvt: "cont.br_on_evt",
	opReturn:  "cont.return",
	opThrew:   "cont.throw",
}

// references are the rules by which a null or stale reference is refused.
var references = [opThrew + 1]string{
	opNew:     "D-NEW-1",
	opResume:  "D-RESUME-6",
	opForward: "D-FWD-5",
	opThrow:   "D-ONE-1",
	opBrOnEvt: "K-2",
}

// Operation returns the name of the last operation, as guests import it; the end of a function is return or throw.
func (s *System) Operation() string { return names[s.last] }

// Rule returns the rule by which the last operation was refused, empty if it is a limit of the implementation.
func (s *System) Rule(t Trap) string {
	switch t {
	case polyfill.NullReference, polyfill.StaleToken:
		return references[s.last]
	case polyfill.NoContinuation:
		if s.last == opForward {
			return "D-FWD-5"
		}
		return "D-SUSPEND-4"
	case polyfill.UnknownTag:
		return "K-3"
	case polyfill.NotTypes:
		return "K-4"
	case polyfill.WrongPayload:
		if s.last == opResume {
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

// Explain appends why the last operation was refused: the reason, the rule, what was expected and given, and what to
// do about it.
func (s *System) Explain(text []byte, t Trap) []byte {
	return s.Events.Refusal(&s.Machine).Append(text, t, s.Rule(t))
}
