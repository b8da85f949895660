package conformance

import (
	"errors"
	"fmt"

	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// Go is the substrate of package run: Go functions on coroutines.
type Go struct{}

// Name returns "go".
func (Go) Name() string { return "go" }

// guest is the part of the loop that differs between the systems.
type guest interface {
	call(f func() []run.Value) ([]run.Value, error)
	// perform does one operation of the system and records what comes back.
	perform(p *player, f *frame, op *Op)
	// values returns the values of a signature, with the system's references.
	values(signature int8, n int16) []run.Value
	// fill writes what has arrived into an outcome.
	fill(o *Outcome, e run.Event)
	live() int
	close()
}

// player plays one script.
type player struct {
	script    Script
	next      int
	trace     []Outcome
	guest     guest
	tables    map[[maxOn + 1]int8]polyfill.Table
	exception *run.Tag
}

// frame is one activation of the loop: a computation's function, or one that it has called.
type frame struct {
	who     int16
	gives   int8 // signature of what return returns
	handles *run.Handle
}

// over is the panic that ends the computations after the last operation.
type over struct{}

// Play implements [Substrate].
func (Go) Play(s Script) ([]Outcome, error) {
	p := &player{script: s, tables: map[[maxOn + 1]int8]polyfill.Table{}, exception: run.NewException("x")}
	switch s.System {
	case Fibers1:
		p.guest = newGuestFibers1()
	case Fibers2:
		p.guest = newGuestFibers2()
	case Stacks:
		p.guest = newGuestStacks()
	case Cont:
		p.guest = newGuestCont()
	}
	for p.next < len(s.Ops) {
		results, err := p.guest.call(func() []run.Value { return p.loop(&frame{who: Root, gives: 1}) })
		if err := p.ended(results, err); err != nil {
			return p.trace, err
		}
	}
	p.guest.close()
	if n := p.guest.live(); n != 0 {
		return p.trace, fmt.Errorf("%d computations are left after Close", n)
	}
	return p.trace, nil
}

// ended records how the embedder's call has ended.
func (p *player) ended(results []run.Value, err error) error {
	var trap *run.Trap
	var thrown *run.Exception
	switch {
	case errors.As(err, &trap):
		if trap.Panic == (over{}) {
			return nil
		}
		if trap.Panic != nil && trap.Panic != (unreachable{}) {
			return fmt.Errorf("%w\n%s", err, trap.Stack)
		}
		if trap.Rule == "" {
			return fmt.Errorf("%w: the message names no rule", err)
		}
		p.record(Outcome{Kind: Trapped, Who: Root, Trap: trap.Code})
	case errors.As(err, &thrown):
		p.record(Outcome{Kind: Escaped, Who: Root, N: int16(thrown.Values.I32(0))})
	case err != nil:
		return err
	default:
		o := Outcome{Kind: Exited, Who: Root}
		p.guest.fill(&o, run.Event{Values: results})
		p.record(o)
	}
	return nil
}

type unreachable struct{}

// record adds an outcome. Pass Ref and Tag one too high, so that a literal that leaves them at 0 means Null.
func (p *player) record(o Outcome) {
	o.Ref--
	o.Tag--
	p.trace = append(p.trace, o)
}

func (o *Outcome) fill(values []run.Value) {
	o.Len = int8(len(values))
	for i, v := range values {
		o.Types |= polyfill.Types(v.Type) << (4 * i)
		o.Values[i] = run.Values(values).Bits(i)
	}
}

// loop is the function of every computation and every frame.
func (p *player) loop(f *frame) []run.Value {
	for {
		if p.next == len(p.script.Ops) {
			panic(over{})
		}
		op := &p.script.Ops[p.next]
		p.record(Outcome{Kind: Issued, Who: f.who, Ref: int16(p.next) + 1})
		p.next++
		switch op.Code {
		case Return:
			signature := f.gives
			if op.As != Null {
				signature = op.As
			}
			return p.guest.values(signature, op.N)
		case ReturnSwitch, ReturnSwitchThrow:
			return p.guest.(*guestStacks).returnSwitch(p, f, op)
		}
		p.try(f, op)
	}
}

// try performs an operation, and catches what it throws if op.Catch says so.
func (p *player) try(f *frame, op *Op) {
	if !op.Catch {
		p.perform(f, op)
		return
	}
	if e := run.Try(func() { p.perform(f, op) }); e != nil {
		o := Outcome{Kind: Caught, Who: f.who, N: int16(e.Values.I32(0))}
		if c, ok := p.guest.(*guestStacks); ok {
			o.Ref = c.token(e.Back) + 1
		}
		p.record(o)
	}
}

func (p *player) perform(f *frame, op *Op) {
	switch op.Code {
	case Throw:
		run.Throw(p.exception, run.I32(int32(op.N)))
	case Unreachable:
		panic(unreachable{})
	case Call:
		p.frame(f)
	default:
		p.guest.perform(p, f, op)
	}
}

func (p *player) frame(f *frame) {
	results := p.loop(&frame{who: f.who, gives: 1})
	var n int16
	if len(results) > 0 && results[0].Type == polyfill.I32 {
		n = int16(run.Values(results).I32(0))
	}
	p.record(Outcome{Kind: Left, Who: f.who, N: n})
}

// payload makes the values of a signature. References stand for themselves; the guests of fibers1 and fibers2 put
// fibers in their place.
func payload(signature int8, n int16) []run.Value {
	values := make([]run.Value, 0, 3)
	for _, t := range Signatures[signature] {
		switch t {
		case polyfill.I32:
			values = append(values, run.I32(int32(n)))
		case polyfill.I64:
			values = append(values, run.I64(int64(n)<<32+int64(n)))
		case polyfill.F32:
			values = append(values, run.F32(float32(n)+0.5))
		case polyfill.F64:
			values = append(values, run.F64(float64(n)-0.25))
		case polyfill.Ref:
			values = append(values, run.Fiber(polyfill.Fiber(uint16(n))))
		default:
			values = append(values, run.Ref(nil))
		}
	}
	return values
}

// table returns the wait table of a list of tags.
func (p *player) table(list []int8, of func(int8) *run.Tag, on func(...*run.Tag) polyfill.Table) polyfill.Table {
	var key [maxOn + 1]int8
	key[0] = int8(copy(key[1:], list))
	table, ok := p.tables[key]
	if !ok {
		var tags []*run.Tag
		for _, t := range list {
			tags = append(tags, of(t))
		}
		table = on(tags...)
		p.tables[key] = table
	}
	return table
}

// labels maps t0 to t5 to tags, and tags back to their numbers.
type labels struct {
	tags    []*run.Tag
	foreign *run.Tag
}

func (l *labels) make(tag func(name string, params ...polyfill.Type) *run.Tag) {
	for i, t := range Tags {
		l.tags = append(l.tags, tag(fmt.Sprintf("t%d", i), Signatures[t.Params]...))
	}
	l.foreign = run.NewException("tx")
}

func (l *labels) tag(n int8) *run.Tag {
	if n < 0 {
		return l.foreign
	}
	return l.tags[n]
}

func (l *labels) number(t *run.Tag) int8 {
	for i, other := range l.tags {
		if other == t {
			return int8(i)
		}
	}
	return Null
}
