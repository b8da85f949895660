package run

import (
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/cont"
)

// Cont is system D, continuations by stack inspection, for Go functions. See package cont for what the operations mean;
// in each of them on is the filter: the events that the issuer admits.
type Cont struct {
	world
	tags
	system cont.System
}

// NewCont returns a system without continuations. Close it when it is no longer needed.
func NewCont() *Cont {
	c := new(Cont)
	c.init("cont", &c.system.Machine)
	c.attach(&c.world, &c.system.Events)
	c.finish = c.end
	return c
}

// Evt is a reified event, an evtref: a value that may be kept and passed on (K-5).
type Evt struct {
	Tag    *Tag
	Values Values
	Cont   polyfill.Token // what raised it; single-use
}

// ContFunc is the function of a continuation. It is called with the values of the first resume.
type ContFunc func(values Values) []Value

// Event makes a tag whose events carry values of the types of params and are answered with values of the types of
// results (D-TYPE-2).
func (c *Cont) Event(name string, params, results polyfill.Types) *Tag {
	return &Tag{&c.world, c.events.NewTag(params, results), name}
}

// Call runs f as the embedder's entry and returns its results. An exception that leaves f, and a trap, are returned as
// an error, a [*Exception] or a [*Trap].
func (c *Cont) Call(f func() []Value) ([]Value, error) { return c.call(f) }

// New makes a continuation that waits for params and yields results; nil traps.
func (c *Cont) New(name string, params, results polyfill.Types, f ContFunc) polyfill.Token {
	c.enter()
	k, trap := c.system.New(f != nil, params, results)
	c.check(cont.OpNew, trap)
	c.add(k.Fiber(), name, func() []Value { return f(c.message.first().Values) })
	return k
}

// Resume enters k with the values. It returns the results of k's function, or the admitted event that k, or one inside
// it, has raised.
func (c *Cont) Resume(k polyfill.Token, on polyfill.Table, values ...Value) (Values, *Evt) {
	return c.ResumeIf(k, on, nil, values...)
}

// ResumeIf is Resume with a filter that is a function as well: an event of on is admitted if admits says so. It runs on
// the suspending side, before anything is detached, and must not use the system (D-FILT-3).
func (c *Cont) ResumeIf(k polyfill.Token, on polyfill.Table, admits func(*Tag, Values) bool, values ...Value) (Values,
	*Evt) {
	c.send(nil, values)
	to, trap := c.system.Resume(k, typesOf(values), on)
	c.check(cont.OpResume, trap)
	c.current.admits = admits
	return c.wait(to)
}

// wait performs a transition and returns the results or the event that come.
func (c *Cont) wait(to polyfill.Transition) (Values, *Evt) {
	e := c.transfer(to)
	if e.Tag == nil {
		return e.Values, nil
	}
	return nil, &Evt{e.Tag, append(Values(nil), e.Values...), c.message.token}
}

// outer finds the continuation to detach, for an event that is about to be sent; null if there is none. Filters rely on
// the values being those of the tag.
func (c *Cont) outer(o cont.Operation, sent polyfill.Event) polyfill.Fiber {
	c.check(o, c.events.Check(sent, 0))
	e := c.message.event()
	f := c.system.Outer(0, sent.Tag)
	for f != 0 {
		admits := c.at(c.machine.Parent(f)).admits
		if admits == nil || admits(e.Tag, e.Values) {
			break
		}
		f = c.system.Outer(f, sent.Tag)
	}
	return f
}

// Suspend raises an event and returns the answer to it.
func (c *Cont) Suspend(tag *Tag, values ...Value) Values {
	e := c.send(tag, values)
	to, k, trap := c.system.Suspend(c.outer(cont.OpSuspend, e), e)
	c.check(cont.OpSuspend, trap)
	c.message.token = k
	return c.transfer(to).Values
}

// BrOnEvt reports whether e is an event of the tag, and returns what it holds. It consumes nothing (D-BRON-2).
func (c *Cont) BrOnEvt(e *Evt, tag *Tag) (Values, polyfill.Token, bool) {
	c.enter()
	if e == nil {
		c.refused(cont.OpBrOnEvt, polyfill.NullReference)
	}
	if e.Tag != tag {
		return nil, polyfill.Token{}, false
	}
	return e.Values, e.Cont, true
}

// Forward raises e again, to the resumer of the issuer's continuation or one further out. It returns what Resume would.
func (c *Cont) Forward(e *Evt, on polyfill.Table) (Values, *Evt) { return c.ForwardIf(e, on, nil) }

// ForwardIf is Forward with a filter that is a function as well, as in ResumeIf.
func (c *Cont) ForwardIf(e *Evt, on polyfill.Table, admits func(*Tag, Values) bool) (Values, *Evt) {
	c.enter()
	if e == nil {
		c.refused(cont.OpForward, polyfill.NullReference)
	}
	sent := c.send(e.Tag, e.Values)
	to, k, trap := c.system.Forward(e.Cont, c.outer(cont.OpForward, sent), sent.Tag, on)
	c.check(cont.OpForward, trap)
	c.message.token = k
	c.current.admits = admits
	return c.wait(to)
}

// Throw raises an exception in k where it waits, and returns the results of k's function if that catches it.
func (c *Cont) Throw(k polyfill.Token, tag *Tag, values ...Value) Values {
	c.enter()
	to, trap := c.system.Throw(k)
	c.check(cont.OpThrow, trap)
	c.message.exception = &Exception{Tag: tag, Values: append(Values(nil), values...)}
	results, _ := c.wait(to)
	return results
}

func (c *Cont) check(o cont.Operation, trap polyfill.Trap) {
	if trap != polyfill.OK {
		c.refused(o, trap)
	}
}

func (c *Cont) refused(o cont.Operation, trap polyfill.Trap) {
	c.refuse(o.String(), cont.Explain(o, trap), trap)
}

// end is what the end of a continuation's function means (D-RESUME-3, D-RESUME-5).
func (c *Cont) end(_ *coroutine, results []Value, thrown *Exception) (*coroutine, *Trap) {
	var to polyfill.Transition
	var trap polyfill.Trap
	if thrown != nil {
		to, trap = c.system.End()
	} else {
		to, trap = c.system.Return(typesOf(results))
	}
	if trap != polyfill.OK {
		return nil, c.trap("return", cont.Explain(cont.OpReturn, trap), trap)
	}
	c.deliver(results, thrown, nil, to.Label)
	return c.at(to.To), nil
}
