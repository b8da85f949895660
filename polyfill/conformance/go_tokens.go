package conformance

import (
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
	"github.com/fiberfill/fiberfill/polyfill/stacks"
)

// tokens are the references of stacks and cont: single-use, numbered as they are handed out.
type tokens struct {
	known []polyfill.Token
	made  int16 // computations
}

func (g *tokens) reference(n int8) polyfill.Token {
	if n >= 0 && int(n) < len(g.known) {
		return g.known[n]
	}
	return polyfill.Token{}
}

// token returns the number of a reference that is handed out now, Null for null.
func (g *tokens) token(t polyfill.Token) int16 {
	if t == (polyfill.Token{}) {
		return Null
	}
	g.known = append(g.known, t)
	return int16(len(g.known) - 1)
}

func (g *tokens) values(signature int8, n int16) []run.Value { return payload(signature, n) }

func (g *tokens) fill(o *Outcome, e run.Event) { o.fill(e.Values) }

type guestStacks struct {
	tokens
	s *run.Stacks
}

func newGuestStacks() *guestStacks { return &guestStacks{s: run.NewStacks()} }

func (g *guestStacks) call(f func() []run.Value) ([]run.Value, error) { return g.s.Call(f) }
func (g *guestStacks) close()                                         { g.s.Close() }
func (g *guestStacks) live() int                                      { return g.s.Live() }

func (g *guestStacks) perform(p *player, f *frame, op *Op) {
	to, values := g.reference(op.A), payload(op.sent(), op.N)
	awaits := stacks.Awaits{Values: Types(op.Wants), Nullable: op.Maybe}
	switch op.Code {
	case New, NewRef:
		body := g.body(p, g.made)
		var t polyfill.Token
		switch {
		case op.Code == New:
			t = g.s.New("", awaits, body)
		case op.A == Null:
			t = g.s.NewRef("", awaits, nil)
		default:
			t = g.s.NewRef("", awaits, body)
		}
		g.made++
		p.record(Outcome{Kind: Made, Who: f.who, Ref: g.token(t) + 1})
	case Bind:
		p.record(Outcome{Kind: Made, Who: f.who, Ref: g.token(g.s.Bind(to, values...)) + 1})
	case SwitchRetire:
		g.s.SwitchRetire(to, values...)
	case Switch:
		g.arrive(p, f)(g.s.Switch(to, awaits, values...))
	case SwitchThrow:
		g.arrive(p, f)(g.s.SwitchThrow(to, awaits, p.exception, run.I32(int32(op.N))))
	case Host:
		g.s.Host(func() { p.frame(f) })
	}
}

func (g *guestStacks) body(p *player, k int16) run.StackFunc {
	return func(values run.Values, sender polyfill.Token) {
		o := Outcome{Kind: Started, Who: k, Ref: g.token(sender) + 1}
		o.fill(values)
		p.record(o)
		p.loop(&frame{who: k})
	}
}

func (g *guestStacks) arrive(p *player, f *frame) func(run.Values, polyfill.Token) {
	return func(values run.Values, sender polyfill.Token) {
		o := Outcome{Kind: Returned, Who: f.who, Ref: g.token(sender) + 1}
		o.fill(values)
		p.record(o)
	}
}

// returnSwitch lets a new loop go on in the place of the frame.
func (g *guestStacks) returnSwitch(p *player, f *frame, op *Op) []run.Value {
	to := g.reference(op.A)
	awaits := stacks.Awaits{Values: Types(op.Wants), Nullable: op.Maybe}
	then := func(values run.Values, sender polyfill.Token) []run.Value {
		g.arrive(p, f)(values, sender)
		return p.loop(&frame{who: f.who, gives: f.gives})
	}
	if op.Code == ReturnSwitch {
		return g.s.ReturnSwitch(to, awaits, then, payload(op.sent(), op.N)...)
	}
	return g.s.ReturnSwitchThrow(to, awaits, then, p.exception, run.I32(int32(op.N)))
}

type guestCont struct {
	tokens
	labels
	c    *run.Cont
	evts []*run.Evt
}

func newGuestCont() *guestCont {
	g := &guestCont{c: run.NewCont()}
	i := -1
	g.make(func(name string, _ ...polyfill.Type) *run.Tag {
		i++
		return g.c.Event(name, Types(Tags[i].Params), Types(Tags[i].Results))
	})
	return g
}

func (g *guestCont) call(f func() []run.Value) ([]run.Value, error) { return g.c.Call(f) }
func (g *guestCont) close()                                         { g.c.Close() }
func (g *guestCont) live() int                                      { return g.c.Live() }

func (g *guestCont) evt(n int8) *run.Evt {
	if n >= 0 && int(n) < len(g.evts) {
		return g.evts[n]
	}
	return nil
}

func (g *guestCont) perform(p *player, f *frame, op *Op) {
	k, values := g.reference(op.A), payload(op.sent(), op.N)
	on := p.table(op.On, g.tag, g.c.On)
	switch op.Code {
	case New:
		var body run.ContFunc
		if op.A != Null {
			body = g.body(p, g.made, op.Gives)
		}
		t := g.c.New("", Types(op.sent()), Types(op.Gives), body)
		g.made++
		p.record(Outcome{Kind: Made, Who: f.who, Ref: g.token(t) + 1})
	case Resume:
		var admits func(*run.Tag, run.Values) bool
		if op.If != 0 {
			admits = func(_ *run.Tag, v run.Values) bool {
				return len(v) > 0 && v.Bits(0) == value(v[0].Type, op.If)
			}
		}
		g.arrive(p, f)(g.c.ResumeIf(k, on, admits, values...))
	case Suspend:
		g.arrive(p, f)(g.c.Suspend(g.tag(op.Tag), values...), nil)
	case Forward:
		g.arrive(p, f)(g.c.Forward(g.evt(op.A), on))
	case ThrowInto:
		g.arrive(p, f)(g.c.Throw(k, p.exception, run.I32(int32(op.N))), nil)
	case BrOnEvt:
		g.brOnEvt(p, f, op)
	}
}

func (g *guestCont) brOnEvt(p *player, f *frame, op *Op) {
	values, k, ok := g.c.BrOnEvt(g.evt(op.A), g.tag(op.Tag))
	if !ok {
		p.record(Outcome{Kind: NoMatch, Who: f.who})
		return
	}
	o := Outcome{Kind: Taken, Who: f.who, Label: Null, Tag: op.Tag + 1, Ref: g.token(k) + 1}
	o.fill(values)
	p.record(o)
}

func (g *guestCont) body(p *player, k int16, gives int8) run.ContFunc {
	return func(values run.Values) []run.Value {
		o := Outcome{Kind: Started, Who: k}
		o.fill(values)
		p.record(o)
		return p.loop(&frame{who: k, gives: gives})
	}
}

func (g *guestCont) arrive(p *player, f *frame) func(run.Values, *run.Evt) {
	return func(values run.Values, e *run.Evt) {
		o := Outcome{Kind: Returned, Who: f.who}
		if e != nil {
			g.evts = append(g.evts, e)
			o.Kind, o.Tag, o.Ref = Taken, g.number(e.Tag)+1, int16(len(g.evts))
			values = e.Values
		}
		o.fill(values)
		p.record(o)
	}
}
