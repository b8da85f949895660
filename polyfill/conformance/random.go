package conformance

import "math/rand/v2"

// Random returns a script of n operations. An operation that would trap is drawn again a few times, so that the rules
// allow most of them and the script gets somewhere.
func Random(s System, r *rand.Rand, n int) Script {
	script := Script{System: s, Ops: make([]Op, 0, n)}
	m := newModel(s)
	for i := range n {
		if len(m.chain) == 0 {
			m.open()
		}
		op := draw(s, m, r.Uint64())
		for range 6 {
			if !ending(op.Code) && (op.Code < New || m.rules.refusal(m, &op) == 0) {
				break
			}
			if r.IntN(16) == 0 {
				break
			}
			op = draw(s, m, r.Uint64())
		}
		script.Ops = append(script.Ops, op)
		m.step(i, &script.Ops[i])
		m.trace = m.trace[:0]
	}
	return script
}

// ending reports whether an operation ends so much that it should be rare.
func ending(c Code) bool { return c == Return || c == Throw || c == Unreachable }

// choices are the operations by system, some of them more often than others.
var choices = map[System][]Code{
	Fibers1: {New, New, Spawn, Suspend, Suspend, Resume, Resume, Resume, Switch, Switch, Retire, RetireTo, Release,
		Handle, End, Call, Return, Throw, Unreachable},
	Fibers2: {New, New, Mount, Mount, Mount, Dismount, Dismount, Switch, Switch, Release, MountNew, SwitchNew,
		DismountRelease, SwitchRelease, Call, Return, Throw, Unreachable},
	Stacks: {New, New, NewRef, Switch, Switch, Switch, SwitchRetire, SwitchThrow, Bind, ReturnSwitch, ReturnSwitchThrow,
		Host, Call, Return, Throw, Unreachable},
	Cont: {New, New, Resume, Resume, Resume, Suspend, Suspend, Suspend, BrOnEvt, Forward, Forward, ThrowInto, Call,
		Return, Throw, Unreachable},
}

// bits hands out pieces of a number.
type bits uint64

func (b *bits) n(n int) int {
	v := int(*b % bits(n))
	*b /= bits(n)
	return v
}

// draw makes an operation out of 64 bits: any number is one.
func draw(s System, m *model, seed uint64) Op {
	b := bits(seed)
	op := Op{Code: choices[s][b.n(len(choices[s]))], Tag: int8(b.n(3)), As: Null, A: Null, B: Null}
	if b.n(16) == 0 {
		op.Tag = int8(b.n(len(Tags)+1)) - 1
		if op.Tag == Null {
			op.Tag = Foreign
		}
	}
	known := len(m.all)
	switch {
	case s == Stacks, s == Cont && op.Code != Forward && op.Code != BrOnEvt:
		known = len(m.refs)
	case s == Cont:
		known = len(m.evts)
	}
	op.A, op.B = operand(&b, known, s), operand(&b, known, s)
	op.N = int16(b.n(8))
	op.Catch = b.n(4) == 0
	for range b.n(4) {
		op.On = append(op.On, int8(b.n(3)))
	}
	if b.n(24) == 0 {
		op.As = int8(b.n(len(Signatures)))
	}
	switch s {
	case Fibers1:
		op.Gives = int8(b.n(5) / 4)
	case Stacks:
		op.Wants, op.Maybe = int8(b.n(8)/6), b.n(4) > 0
		if op.As == Null {
			op.As = int8(b.n(3) / 2)
		}
	case Cont:
		op.Gives = int8(b.n(4) / 2)
		if (op.Code == Resume || op.Code == New) && op.As == Null {
			op.As = int8(b.n(4) / 2)
		}
		if op.Code == Resume && b.n(4) == 0 {
			op.If = op.N + 1
		}
	}
	return op
}

// operand draws a reference, usually one of the latest.
func operand(b *bits, known int, s System) int8 {
	n := b.n(32)
	switch {
	case n == 0:
		return Null
	case n == 1 && (s == Fibers1 || s == Fibers2):
		return Fake
	case known == 0:
		return 0
	}
	return int8(max(0, min(known-1-n%8, 120)))
}

// FromBytes makes a script of a fuzzer's bytes, eight an operation.
func FromBytes(s System, list []byte) Script {
	script := Script{System: s}
	m := newModel(s)
	for i := 0; i+8 <= len(list) && i < 8*120; i += 8 {
		var seed uint64
		for j := range 8 {
			seed |= uint64(list[i+j]) << (8 * j)
		}
		if len(m.chain) == 0 {
			m.open()
		}
		script.Ops = append(script.Ops, draw(s, m, seed))
		m.step(i/8, &script.Ops[i/8])
	}
	return script
}
