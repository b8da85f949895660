package conformance

import (
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// fibers are the references of fibers1 and fibers2: stable, one a fiber.
type fibers struct {
	labels
	known []polyfill.Fiber
	gives []int8
}

// fake is a reference that no machine hands out: its slot does not exist.
const fake = polyfill.Fiber(1<<22 - 1)

func (g *fibers) fiber(n int8) polyfill.Fiber {
	switch {
	case n == Fake:
		return fake
	case n >= 0 && int(n) < len(g.known):
		return g.known[n]
	}
	return 0
}

// values makes the values of a signature, with fibers for references.
func (g *fibers) values(signature int8, n int16) []run.Value {
	values := payload(signature, n)
	for i, t := range Signatures[signature] {
		if t == polyfill.Ref {
			values[i] = run.Fiber(g.fiber(int8(n)))
		}
	}
	return values
}

// fill writes what has arrived into an outcome, with the names of fibers for references.
func (g *fibers) fill(o *Outcome, e run.Event) {
	o.fill(e.Values)
	o.Label, o.Tag = int8(e.Label), g.number(e.Tag)+1
	for i := range e.Values {
		if e.Values[i].Type == polyfill.Ref {
			for n, f := range g.known {
				if f == e.Values.Fiber(i) {
					o.Values[i] = uint64(n)
				}
			}
		}
	}
}

// body returns the function of a fiber, which has captured n.
func (g *fibers) body(p *player, gives int8, n int16) run.Func {
	return func(self polyfill.Fiber, first run.Event) []run.Value {
		f := &frame{who: int16(g.index(self, gives)), gives: gives}
		o := Outcome{Kind: Started, Who: f.who, N: n}
		g.fill(&o, first)
		if first.Tag == nil {
			o.Label = 0
		}
		p.record(o)
		return p.loop(f)
	}
}

// index returns the number of a fiber. A fiber gets its number when it is first seen.
func (g *fibers) index(f polyfill.Fiber, gives int8) int {
	for i, other := range g.known {
		if other == f {
			return i
		}
	}
	g.known, g.gives = append(g.known, f), append(g.gives, gives)
	return len(g.known) - 1
}

type guestFibers1 struct {
	fibers
	v *run.Fibers1
}

func newGuestFibers1() *guestFibers1 {
	g := &guestFibers1{v: run.NewFibers1()}
	g.make(g.v.Tag)
	return g
}

func (g *guestFibers1) call(f func() []run.Value) ([]run.Value, error) { return g.v.Call(f) }
func (g *guestFibers1) close()                                         { g.v.Close() }
func (g *guestFibers1) live() int                                      { return g.v.Live() }

// on makes the operation's own handle, inside those of the frame.
func (g *guestFibers1) on(p *player, f *frame, op *Op) (polyfill.Table, *run.Handle) {
	if f.handles == nil {
		return p.table(op.On, g.tag, g.v.On), nil
	}
	h := g.handle(f, op)
	return h.Table(), h
}

func (g *guestFibers1) handle(f *frame, op *Op) *run.Handle {
	var blocks []*run.Tag
	for _, t := range op.On {
		blocks = append(blocks, g.tag(t))
	}
	return g.v.Handle(f.handles, blocks...)
}

func (g *guestFibers1) perform(p *player, f *frame, op *Op) {
	a, b := g.fiber(op.A), g.fiber(op.B)
	tag, values := g.tag(op.Tag), g.values(op.sent(), op.N)
	switch op.Code {
	case New:
		n := g.v.New("", Types(op.Gives), p.table(op.On, g.tag, g.v.On), g.body(p, op.Gives, op.N))
		p.record(Outcome{Kind: Made, Who: f.who, Ref: int16(g.index(n, op.Gives)) + 1})
	case Handle:
		f.handles = g.handle(f, op)
		p.record(Outcome{Kind: Fell, Who: f.who})
	case End:
		if f.handles != nil {
			f.handles = f.handles.Outer()
		}
		p.record(Outcome{Kind: Fell, Who: f.who})
	case Release:
		g.v.Release(a)
		p.record(Outcome{Kind: Fell, Who: f.who})
	case Retire:
		g.v.Retire(a, tag, values...)
	case RetireTo:
		g.v.RetireTo(a, b, tag, values...)
	default:
		on, handle := g.on(p, f, op)
		var e run.Event
		switch op.Code {
		case Spawn:
			e = g.v.Spawn("", Types(op.Gives), on, g.body(p, op.Gives, op.N))
		case Suspend:
			e = g.v.Suspend(a, on, tag, values...)
		case Resume:
			e = g.v.Resume(a, on, tag, values...)
		case Switch:
			e = g.v.Switch(a, b, on, tag, values...)
		}
		g.arrive(p, f, handle, e)
	}
}

func (g *guestFibers1) arrive(p *player, f *frame, handle *run.Handle, e run.Event) {
	o := Outcome{Kind: Taken, Who: f.who}
	g.fill(&o, e)
	if e.Tag == nil {
		o.Kind, o.Label = Returned, 0
	} else if handle != nil {
		// The operation's own handle is left at once, because the next operation stands after it.
		if f.handles, _ = handle.Taken(e.Label); f.handles == handle {
			f.handles = handle.Outer()
		}
	}
	p.record(o)
}

type guestFibers2 struct {
	fibers
	v *run.Fibers2
}

func newGuestFibers2() *guestFibers2 {
	g := &guestFibers2{v: run.NewFibers2()}
	g.make(g.v.Tag)
	return g
}

func (g *guestFibers2) call(f func() []run.Value) ([]run.Value, error) { return g.v.Call(f) }
func (g *guestFibers2) close()                                         { g.v.Close() }
func (g *guestFibers2) live() int                                      { return g.v.Live() }

func (g *guestFibers2) perform(p *player, f *frame, op *Op) {
	a, b := g.fiber(op.A), g.fiber(op.B)
	tag, values := g.tag(op.Tag), g.values(op.sent(), op.N)
	on := p.table(op.On, g.tag, g.v.On)
	var e run.Event
	o := Outcome{Kind: Taken, Who: f.who}
	switch op.Code {
	case New:
		n := g.v.New("", tag, on, g.body(p, resultsB(op.Tag), op.N))
		p.record(Outcome{Kind: Made, Who: f.who, Ref: int16(g.index(n, 0)) + 1})
		return
	case MountNew, SwitchNew:
		var n polyfill.Fiber
		gives := int8(0)
		if len(op.On) > 0 {
			gives = resultsB(op.On[0])
		}
		if op.Code == MountNew {
			n, e = g.v.MountNew("", on, g.body(p, gives, op.N))
		} else {
			n, e = g.v.SwitchNew("", a, on, g.body(p, gives, op.N))
		}
		o.Ref = int16(g.index(n, 0)) + 1
		if e.Tag == nil {
			o.Kind = Returned
		}
		e.Label-- // the first tag of the list is the immediate of the instruction, not one of its handlers
	case Mount:
		e = g.v.Mount(a, on, tag, values...)
	case Switch:
		e = g.v.Switch(a, b, on, tag, values...)
	case Dismount:
		e = g.v.Dismount(a, on, tag, values...)
	case Release:
		g.v.Release(a)
	case DismountRelease:
		g.v.DismountRelease(a, tag, values...)
	case SwitchRelease:
		g.v.SwitchRelease(a, b, tag, values...)
	}
	g.fill(&o, e)
	if e.Tag == nil {
		o.Label = 0
		if o.Kind == Taken {
			o.Kind = Fell
		}
	}
	p.record(o)
}

// resultsB returns the signature of the results of a function whose return event is the tag.
func resultsB(tag int8) int8 {
	if tag < 0 {
		return 0
	}
	return Tags[tag].Params
}
