package validate

// What instructions take from the stack and leave on it.

// fail notes the first thing that is wrong.
func (b *Body) fail(c Code, at int) *Error {
	if b.err == nil {
		b.err = b.m.failure(&b.r, c, at)
	}
	return b.err
}

func (b *Body) unknown(c Code, index uint32) {
	b.fail(c, b.At).Index = index
}

func (b *Body) mismatch(want, got Type) {
	if b.err == nil {
		e := b.fail(TypeMismatch, b.At)
		e.Want, e.Got = want, got
	}
}

// pop takes an operand of a type.
func (b *Body) pop(want Type) {
	if b.height > b.base {
		b.height--
		if got := b.Stack[b.height]; got != want && !b.types.Match(got, want) {
			b.mismatch(want, got)
		}
	} else if !b.unreachable {
		b.underflow(want)
	}
}

func (b *Body) underflow(want Type) {
	if b.err == nil {
		b.fail(StackUnderflow, b.At).Want = want
	}
}

// popAll takes operands of these types, the last first.
func (b *Body) popAll(want []Type) {
	for i := len(want) - 1; i >= 0; i-- {
		b.pop(want[i])
	}
}

// popAny takes an operand and returns its type.
func (b *Body) popAny() Type {
	if b.height > b.base {
		b.height--
		return b.Stack[b.height]
	}
	if !b.unreachable {
		b.underflow(Unknown)
	}
	return Unknown
}

// popRef takes a reference and returns its type.
func (b *Body) popRef() Type {
	t := b.popAny()
	if t == Unknown {
		return Bottom
	}
	if !t.IsRef() {
		b.mismatch(RefNull(HeapAny), t)
	}
	return t
}

// peek returns the type of the operand below the n topmost.
func (b *Body) peek(n int) Type {
	if b.height-n > b.base {
		return b.Stack[b.height-n-1]
	}
	if !b.unreachable {
		b.underflow(Unknown)
	}
	return Unknown
}

// push leaves one operand.
func (b *Body) push(t Type) {
	b.result[0] = t
	b.Pushed = b.result[:]
}

// pushMore leaves operands of these types and one more.
func (b *Body) pushMore(types []Type, t Type) {
	b.more = append(append(b.more[:0], types...), t)
	b.Pushed = b.more
}

// requires fails if the types are not, one by one, subtypes of what is wanted.
func (b *Body) requires(want, got []Type) {
	if len(want) != len(got) {
		b.fail(TypeMismatch, b.At).Counts = [2]int{len(want), len(got)}
		return
	}
	for i := range want {
		if !b.types.Match(got[i], want[i]) {
			b.mismatch(want[i], got[i])
		}
	}
}

// function returns the id of a function type, by index.
func (b *Body) function(i uint32) (Heap, bool) { return b.formed(i, FormFunc) }

// formed returns the id of a type of this form, by index.
func (b *Body) formed(i uint32, f Form) (Heap, bool) {
	if i >= uint32(len(b.m.TypeIDs)) {
		b.unknown(UnknownType, i)
		return 0, false
	}
	id := b.m.TypeIDs[i]
	if b.types.defs[id].Form != f {
		e := b.fail(WrongForm, b.At)
		e.Index, e.Form = i, f
		return 0, false
	}
	return id, true
}

// label returns the types that a branch to the label takes with it.
func (b *Body) label(l uint32) ([]Type, bool) {
	if l >= uint32(len(b.Controls)) {
		b.unknown(UnknownLabel, l)
		return nil, false
	}
	return b.Controls[len(b.Controls)-1-int(l)].Label(), true
}
