package conformance

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fiberfill/fiberfill/polyfill"
)

// form is how an operation is written: its word and its operands, one letter each. f r e are references, t the tag, n
// the payload number, which may be left out if it is 0.
type form struct{ word, operands string }

var forms = map[System]map[Code]form{
	Fibers1: {New: {"new", "n"}, Spawn: {"spawn", "n"}, Suspend: {"suspend", "ftn"}, Resume: {"resume", "ftn"},
		Switch: {"switch", "fftn"},
		Retire: {"retire", "ftn"}, RetireTo: {"retireto", "fftn"}, Release: {"release", "f"}, Handle: {"handle",
			""}, End: {"end", ""}},
	Fibers2: {New: {"new", "tn"}, Mount: {"mount", "ftn"}, Switch: {"switch", "fftn"}, Dismount: {"dismount", "ftn"},
		Release: {"release", "f"}, MountNew: {"mount_new", "n"}, SwitchNew: {"switch_new", "fn"},
		DismountRelease: {"dismount_release", "ftn"}, SwitchRelease: {"switch_release", "fftn"}},
	Stacks: {New: {"new", ""}, NewRef: {"new_ref", "r"}, Switch: {"switch", "rn"},
		SwitchRetire: {"switch_retire", "rn"}, SwitchThrow: {"switch_throw", "rn"}, Bind: {"bind", "rn"},
		ReturnSwitch: {"return_switch", "rn"}, ReturnSwitchThrow: {"return_switch_throw", "rn"}, Host: {"host", ""}},
	Cont: {New: {"new", "r"}, Resume: {"resume", "rn"}, Suspend: {"suspend", "tn"}, BrOnEvt: {"br_on_evt", "et"},
		Forward: {"forward", "e"}, ThrowInto: {"cont.throw", "rn"}},
}

var common = map[Code]form{Return: {"return", "n"}, Throw: {"throw", "n"}, Unreachable: {"unreachable", ""},
	Call: {"call", ""}}

func formOf(s System, c Code) (form, bool) {
	if f, ok := common[c]; ok {
		return f, true
	}
	f, ok := forms[s][c]
	return f, ok
}

// Text returns an operation as it stands in a transcript.
func (o Op) Text(s System) string {
	f, _ := formOf(s, o.Code)
	words := []string{f.word}
	operands := []int8{o.A, o.B}
	for _, letter := range f.operands {
		switch letter {
		case 't':
			words = append(words, tagName(o.Tag))
		case 'n':
			if o.N != 0 {
				words = append(words, strconv.Itoa(int(o.N)))
			}
		default:
			words = append(words, reference(letter, int(operands[0])))
			operands = operands[1:]
		}
	}
	if o.As != Null {
		words = append(words, fmt.Sprintf("as s%d", o.As))
	}
	if o.Gives != 0 {
		words = append(words, fmt.Sprintf("gives s%d", o.Gives))
	}
	if o.Wants != 0 {
		words = append(words, fmt.Sprintf("wants s%d", o.Wants))
	}
	if o.Maybe {
		words = append(words, "maybe")
	}
	if o.If != 0 {
		words = append(words, fmt.Sprintf("if %d", o.If))
	}
	if o.Catch {
		words = append(words, "catch")
	}
	if len(o.On) > 0 {
		words = append(words, "on")
		for _, t := range o.On {
			words = append(words, tagName(t))
		}
	}
	return strings.Join(words, " ")
}

func tagName(t int8) string {
	switch t {
	case Null:
		return "none"
	case Foreign:
		return "tx"
	}
	return fmt.Sprintf("t%d", t)
}

func reference(letter rune, n int) string {
	switch n {
	case Null:
		return "null"
	case Fake:
		return "fake"
	}
	return fmt.Sprintf("%c%d", letter, n)
}

// Parse returns the operations of a transcript. Lines that begin with a space are outcomes, and lines with # comments:
// they are skipped.
func Parse(s System, transcript string) (Script, error) {
	script := Script{System: s}
	for i, line := range strings.Split(transcript, "\n") {
		if line == "" || line[0] == ' ' || line[0] == '#' {
			continue
		}
		_, text, named := strings.Cut(line, ": ")
		if !named {
			text = line // an operation without its issuer, before -update
		}
		op, err := parseOp(s, strings.Fields(text))
		if err != nil {
			return script, fmt.Errorf("line %d, %q: %w", i+1, line, err)
		}
		script.Ops = append(script.Ops, op)
	}
	return script, nil
}

func parseOp(s System, words []string) (Op, error) {
	op := Op{A: Null, B: Null, Tag: Null, As: Null}
	if len(words) == 0 {
		return op, fmt.Errorf("no operation")
	}
	code, f, ok := lookup(s, words[0])
	if !ok {
		return op, fmt.Errorf("unknown operation %q", words[0])
	}
	op.Code = code
	words = words[1:]
	references := []*int8{&op.A, &op.B}
	for _, letter := range f.operands {
		if letter == 'n' {
			if len(words) > 0 {
				if n, err := strconv.Atoi(words[0]); err == nil {
					op.N, words = int16(n), words[1:]
				}
			}
			continue
		}
		if len(words) == 0 {
			return op, fmt.Errorf("too few operands")
		}
		n, err := number(words[0])
		if err != nil {
			return op, err
		}
		if letter == 't' {
			op.Tag = n
		} else {
			*references[0], references = n, references[1:]
		}
		words = words[1:]
	}
	return op, op.parseRest(words)
}

func (op *Op) parseRest(words []string) error {
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch word {
		case "maybe":
			op.Maybe = true
			continue
		case "catch":
			op.Catch = true
			continue
		case "on":
			for _, w := range words {
				t, err := number(w)
				if err != nil {
					return err
				}
				op.On = append(op.On, t)
			}
			return nil
		}
		if len(words) == 0 {
			return fmt.Errorf("nothing behind %q", word)
		}
		n, err := number(words[0])
		if err != nil {
			return err
		}
		switch word {
		case "as":
			op.As = n
		case "gives":
			op.Gives = n
		case "wants":
			op.Wants = n
		case "if":
			op.If = int16(n)
		default:
			return fmt.Errorf("unknown word %q", word)
		}
		words = words[1:]
	}
	return nil
}

func lookup(s System, word string) (Code, form, bool) {
	for c := Code(0); c < codes; c++ {
		if f, ok := formOf(s, c); ok && f.word == word {
			return c, f, true
		}
	}
	return 0, form{}, false
}

// number returns what null, fake, tx or a letter with a number stands for.
func number(word string) (int8, error) {
	switch word {
	case "null", "none":
		return Null, nil
	case "fake", "tx":
		return Fake, nil
	}
	n, err := strconv.Atoi(strings.TrimLeft(word, "abcdefghijklmnopqrstuvwxyz"))
	if err != nil {
		return 0, fmt.Errorf("%q is neither a reference, a tag nor a number", word)
	}
	return int8(n), nil
}

// Transcript returns operations and outcomes as text.
func Transcript(s Script, trace []Outcome) string {
	var b strings.Builder
	for _, o := range trace {
		if o.Kind == Issued {
			fmt.Fprintf(&b, "%s: %s\n", who(s.System, o.Who), s.Ops[o.Ref].Text(s.System))
		} else {
			fmt.Fprintf(&b, "  %s\n", o.text(s.System))
		}
	}
	return b.String()
}

func who(s System, n int16) string {
	switch {
	case n == Root:
		return "root"
	case s == Fibers1 || s == Fibers2:
		return fmt.Sprintf("f%d", n)
	}
	return fmt.Sprintf("k%d", n)
}

func (o Outcome) text(s System) string {
	name, ref := who(s, o.Who), ""
	if o.Ref != Null {
		letter := 'f'
		if s == Stacks || s == Cont {
			letter = 'r'
			if s == Cont && o.Kind == Taken && o.Label >= 0 {
				letter = 'e'
			}
		}
		ref = " " + reference(letter, int(o.Ref))
	}
	event := o.values()
	if o.Tag != Null {
		event = tagName(o.Tag) + event
	}
	switch o.Kind {
	case Made:
		return name + ":" + ref
	case Started:
		text := fmt.Sprintf("%s: starts", name)
		if o.N != 0 {
			text += fmt.Sprintf(" %d", o.N)
		}
		if o.Tag != Null {
			text += fmt.Sprintf(" at %d", o.Label)
		}
		if event != "" {
			text += " " + event
		}
		return text + ref
	case Taken:
		if o.Label == Null {
			return fmt.Sprintf("%s: matches %s%s", name, event, ref)
		}
		return fmt.Sprintf("%s: at %d %s%s", name, o.Label, event, ref)
	case Fell:
		return name + ": next" + ref
	case Returned:
		return fmt.Sprintf("%s: returned %s%s", name, event, ref)
	case Caught:
		return fmt.Sprintf("%s: caught %d%s", name, o.N, ref)
	case NoMatch:
		return name + ": no match"
	case Left:
		return fmt.Sprintf("%s: left the frame with %d", name, o.N)
	case Exited:
		return fmt.Sprintf("exit %s", event)
	case Escaped:
		return fmt.Sprintf("exception %d", o.N)
	}
	return fmt.Sprintf("trap %v", o.Trap)
}

func (o Outcome) values() string {
	var words []string
	for i := range int(o.Len) {
		v := o.Values[i]
		switch o.Types.At(i) {
		case polyfill.I32:
			words = append(words, fmt.Sprint(int32(v)))
		case polyfill.I64:
			words = append(words, fmt.Sprint(int64(v)))
		case polyfill.F32:
			words = append(words, fmt.Sprint(math.Float32frombits(uint32(v))))
		case polyfill.F64:
			words = append(words, fmt.Sprint(math.Float64frombits(v)))
		case polyfill.Ref:
			words = append(words, fmt.Sprintf("ref %d", v))
		default:
			words = append(words, "null")
		}
	}
	return "(" + strings.Join(words, " ") + ")"
}
