package polyfill

// Refusal is what the last operation that was refused was about, for people: [Refusal.Append] makes words of it. Which
// of the fields count depends on the [Trap].
type Refusal struct {
	Fiber    Fiber // the operand that was looked at last
	Receiver Fiber // the fiber that does not take the event; null is the root
	Tag      Tag   // of the event, or unknown
	Table    Table // unknown
	Expected Types
	Actual   Types
}

// Refusal returns what the last refusal of a system was about. m has the system's fibers.
//
//go:noinline
func (e *Events) Refusal(m *Machine) *Refusal {
	e.refused.Fiber = m.looked
	return &e.refused
}

// Refusal returns what the last refusal of a system without events was about.
func (m *Machine) Refusal(expected, actual Types) *Refusal {
	return &Refusal{Fiber: m.looked, Expected: expected, Actual: actual}
}

// Checks note here what they have found. What only refusals need is not inlined: there the core's size counts, and not
// its speed.

//go:noinline
func (e *Events) unknown(t Tag, table Table) { e.refused.Tag, e.refused.Table = t, table }

// Untaken notes that a fiber does not take a tag.
//
//go:noinline
func (e *Events) Untaken(f Fiber, t Tag) { e.refused.Receiver, e.refused.Tag = f, t }

// Mismatch notes that values have other types than those that were expected. The tag is that of their event, if any.
//
//go:noinline
func (e *Events) Mismatch(t Tag, expected, actual Types) {
	e.refused.Tag, e.refused.Expected, e.refused.Actual = t, expected, actual
}

// Append appends the reason of a trap, the rule behind it, what was expected and given, and what to do about it:
//
//	wrong number or types of values [K-4]: tag 1, expected (i32 i64 ), got (i32 ). Send what it was made with
//
//go:noinline
func (r *Refusal) Append(text []byte, t Trap, rule string) []byte {
	text = t.appendCited(text, rule)
	if t >= Unreachable {
		return text
	}
	more := remedies[t]
	if t == WrongPayload && r.Actual.Valid() && r.Expected.Takes(r.Actual) {
		more = retired
	} else if t == WrongPayload && r.Tag == 0 {
		more = more[len("tag $t, "):]
	}
	text = add(text, ": ")
	from := 0
	for i := 0; i < len(more); i++ {
		if more[i] == '$' {
			text = r.field(add(text, more[from:i]), more[i+1])
			from = i + 2
		}
	}
	return add(text, more[from:])
}

// remedies are the texts after the reason of a trap. See field for words that begin with a dollar.
var remedies = [Unreachable]string{
	NullReference:    "Pass what new or an event gave",
	UnknownReference: "fiber $f. Pass what new or an event gave",
	NotSuspended:     "fiber $f. Enter only suspended ones",
	NotInChain:       "fiber $f. Name one in the chain",
	Over:             "fiber $f. Note which have ended",
	StaleToken:       "fiber $f. Take the new one from the next event",
	OnRoot:           "Do it in a fiber",
	UnknownTag:       "tag $t, table $T. Make both in this instance first",
	NotTypes:         "4 bits each, 1 to 6, at most 8",
	WrongPayload:     "tag $t, expected $e, got $a. Send what it was made with",
	WrongResults:     "expected $e, got $a. Return what it was made with",
	Unhandled:        "tag $t, fiber $r. Have it wait with a table that has it",
	NoContinuation:   "tag $t. Resume with a table that has it",
	FunctionReturned: "End by switch_retire",
	FunctionThrew:    "Catch it in the function",
	EntryRetired:     "Return from the export",
	HostFrames:       "Call by fiberfill's exports",
	TooManyFibers:    "Release some",
}

// retired stands for the remedy if the values have the right types: then the reference to their sender is wrong.
const retired = "no null reference is taken. Switch instead"

// field appends the field with this letter.
func (r *Refusal) field(text []byte, letter byte) []byte {
	n := uint32(r.Fiber)
	switch letter {
	case 'e':
		return r.Expected.append(text)
	case 'a':
		return r.Actual.append(text)
	case 'r':
		n = uint32(r.Receiver)
	case 't':
		n = uint32(r.Tag)
	case 'T':
		n = uint32(r.Table)
	}
	return number(text, n)
}

// append appends the types in parentheses; for one that does not exist, a question mark.
//
//go:noinline
func (l Types) append(text []byte) []byte {
	text = add(text, "(")
	for ; l != 0; l >>= 4 {
		t := l.At(0)
		if t > NullRef {
			t = 0
		}
		text = add(text, typeNames[4*t:4*t+4])
	}
	return add(text, ")")
}

// typeNames has four letters for each type.
const typeNames = "?   i32 i64 f32 f64 ref ref?"

// number appends a number in decimal digits. Package strconv would be a tenth of the core.
//
//go:noinline
func number(text []byte, n uint32) []byte {
	if n > 9 {
		text = number(text, n/10)
	}
	return add(text, "0123456789"[n%10:n%10+1])
}

//go:noinline
func add(text []byte, s string) []byte { return append(text, s...) }
