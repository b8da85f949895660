package run

import (
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/cont"
)

// Cont is continuations by stack inspection, for Go functions. See package cont for what the operations mean; in each
// of them on is the filter: the events that the issuer admits.
type Cont struct {
	world
	tags
	system cont.System
}

// NewCont returns a system without continuations. Close it when it is no longer needed.
func NewCont() *Cont {
	c := new(Cont)
	c.init("cont", &c.system, &c.system.Machine, &c.system.Plan)
	c.tags = tags{&c.world, &c.system.Events}
	return c
}

// Evt is a reified event, an evtref: a value that may be kept and passed on (K-5).
type Evt struct {
	Tag    *Tag
	Label  int32 // place of Tag in the filter that has admitted the event
	Values Values
	Cont   polyfill.Token // what raised it; single-use
}

// ContFunc is the function of a continuation. It is called with the values of the first resume.
type ContFunc func(values Values) []Value

// Event makes a tag whose events carry values of the types of params and are answered with values of the types of
// results (D-TYPE-2).
func (c *Cont) Event(name string, params, results polyfill.Types) *Tag {
	return c.tags.make(name, params, results)
}

// Call runs f as the embedder's entry and returns its results. An exception that leaves f, and a trap, are returned as
// an error, a [*Exception] or a [*Trap].
func (c *Cont) Call(f func() []Value) ([]Value, error) { return c.call(f) }

// New makes a continuation that waits for params and yields results, and returns its reference. A nil f traps.
func (c *Cont) New(name string, params, results polyfill.Types, f ContFunc) polyfill.Token {
	c.enter()
	k, trap := c.system.New(f != nil, params, results)
	c.settle(trap)
	c.add(k.Fiber(), name, func() []Value { return f(c.first().Values) })
	return k
}

// Resume enters k with the values. It returns the results of k's function, or the admitted event that k, or one inside
// it, has raised.
func (c *Cont) Resume(k polyfill.Token, on polyfill.Table, values ...Value) (Values, *Evt) {
	return c.ResumeIf(k, on, nil, values...)
}

// ResumeIf is Resume with a filter function: an event of on is admitted if admits returns true. admits runs on the
// suspending side, before anything is detached, and must not use the system (D-FILT-3).
func (c *Cont) ResumeIf(k polyfill.Token, on polyfill.Table, admits func(*Tag, Values) bool, values ...Value) (Values,
	*Evt) {
	e := c.send(nil, values)
	c.current.admits = admits
	return c.wait(c.system.Resume(k, e.Payload, on, admits != nil))
}

// wait carries out a plan and returns the results or the event that arrive.
func (c *Cont) wait(trap polyfill.Trap) (Values, *Evt) {
	e := c.transfer(trap)
	if e.Tag == nil {
		return e.Values, nil
	}
	return nil, &Evt{e.Tag, e.Label, append(Values(nil), e.Values...), c.plan.Token}
}

// ask calls filters for an event, as long as the plan is a question.
func (c *Cont) ask(trap polyfill.Trap, tag *Tag) polyfill.Trap {
	for trap == polyfill.OK && c.plan.Delivers == polyfill.Question {
		admits := c.at(c.plan.To).admits
		trap = c.system.Answer(admits(tag, c.message.buffer[:c.message.n]))
	}
	return trap
}

// Suspend raises an event and returns the answer to it.
func (c *Cont) Suspend(tag *Tag, values ...Value) Values {
	return c.transfer(c.ask(c.system.Suspend(c.send(tag, values)), tag)).Values
}

// BrOnEvt reports whether e is an event of the tag. If so, it returns the values and the continuation that e holds. It
// consumes nothing (D-BRON-2).
func (c *Cont) BrOnEvt(e *Evt, tag *Tag) (Values, polyfill.Token, bool) {
	c.enter()
	var event polyfill.Event
	if e != nil {
		event = polyfill.Event{Tag: c.number(e.Tag), Payload: typesOf(e.Values)}
	}
	is, trap := c.system.BrOnEvt(event, c.number(tag))
	c.settle(trap)
	if !is {
		return nil, polyfill.Token{}, false
	}
	return e.Values, e.Cont, true
}

// Forward raises e again, to the resumer of the issuer's continuation or one further out. It returns what Resume would.
func (c *Cont) Forward(e *Evt, on polyfill.Table) (Values, *Evt) { return c.ForwardIf(e, on, nil) }

// ForwardIf is Forward with a filter function, as in ResumeIf.
func (c *Cont) ForwardIf(e *Evt, on polyfill.Table, admits func(*Tag, Values) bool) (Values, *Evt) {
	if e == nil {
		e = new(Evt)
	}
	sent := c.send(e.Tag, e.Values)
	c.current.admits = admits
	return c.wait(c.ask(c.system.Forward(e.Cont, sent, on, admits != nil), e.Tag))
}

// Throw raises an exception in k where k waits, and returns the results of k's function if that function catches the
// exception.
func (c *Cont) Throw(k polyfill.Token, tag *Tag, values ...Value) Values {
	c.enter()
	trap := c.system.Throw(k)
	if trap == polyfill.OK {
		c.message.exception = &Exception{Tag: tag, Values: append(Values(nil), values...)}
	}
	results, _ := c.wait(trap)
	return results
}
