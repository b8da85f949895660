package polyfill

// Trap says why an operation was refused. Zero means that it was not refused.
//
// It is a number and not an error because the machine is also compiled to wasm of a few kilobytes, where an interface
// would cost more than everything else together.
type Trap uint8

const (
	// OK: no trap.
	OK Trap = iota
	// NullReference: the operand is null (A-PARENT-3, C-REF-3).
	NullReference
	// UnknownReference: no operation has ever returned this reference.
	UnknownReference
	// NotSuspended: the fiber is running, waits for a fiber that it has entered, or is carried.
	NotSuspended
	// NotInChain: the fiber is neither active nor an ancestor of the active fiber.
	NotInChain
	// Over: the fiber is moribund.
	Over
	// StaleToken: the single-use reference has been used, or a newer one has been minted (C-REF-2).
	StaleToken
	// OnRoot: the operation needs a fiber, and the root is active.
	OnRoot
	// UnknownTag: the tag or the wait table is not one of this machine.
	UnknownTag
	// NotTypes: the number is not a valid list of types.
	NotTypes
	// WrongPayload: the values do not match the tag or the receiver in number or types (K-4).
	WrongPayload
	// WrongResults: the results do not have the types that the waiting parent expects (A-SWITCH-5).
	WrongResults
	// Unhandled: the receiver has no handler for the event (A-HDL-7).
	Unhandled
	// NoContinuation: no enclosing continuation's resumer admits the event (D-SUSPEND-4).
	NoContinuation
	// FunctionReturned: a coroutine function has returned (C-RET-1).
	FunctionReturned
	// FunctionThrew: an exception has left a coroutine function (C-EXC-1).
	FunctionThrew
	// EntryRetired: the embedder's entry retires, so nothing could return to the host (C-RETIRE-5).
	EntryRetired
	// HostFrames: the stack that would have to be parked holds frames of the host (C-SWITCH-7).
	HostFrames
	// TooManyFibers: MaxFibers are alive, or all references are used up.
	TooManyFibers
	// Unreachable: the guest itself has trapped.
	Unreachable

	lastTrap = Unreachable
)

// String returns the reason in words.
func (t Trap) String() string {
	switch t {
	case OK:
		return "no trap"
	case NullReference:
		return "null reference"
	case UnknownReference:
		return "unknown reference"
	case NotSuspended:
		return "fiber is not suspended"
	case NotInChain:
		return "fiber is neither active nor an ancestor of the active fiber"
	case Over:
		return "fiber is moribund"
	case StaleToken:
		return "reference already consumed"
	case OnRoot:
		return "the root is active"
	case UnknownTag:
		return "unknown tag"
	case NotTypes:
		return "not a list of types"
	case WrongPayload:
		return "wrong number or types of values"
	case WrongResults:
		return "wrong number or types of results"
	case Unhandled:
		return "receiver has no handler for the event"
	case NoContinuation:
		return "no enclosing continuation admits the event"
	case FunctionReturned:
		return "coroutine function returned"
	case FunctionThrew:
		return "exception left the coroutine function"
	case EntryRetired:
		return "the entry from the embedder cannot retire"
	case HostFrames:
		return "host frames on the stack to be parked"
	case TooManyFibers:
		return "too many fibers"
	case Unreachable:
		return "unreachable executed"
	}
	return "unknown trap"
}

// appendCited appends the reason in words with the rule behind it: "fiber is moribund [A-STATE-2]". A limit of the
// implementation has no rule.
func (t Trap) appendCited(text []byte, rule string) []byte {
	text = append(text, t.String()...)
	if rule != "" {
		text = append(append(append(text, " ["...), rule...), ']')
	}
	return text
}
