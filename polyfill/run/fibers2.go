package run

import (
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/fibers2"
)

// V2 is system B, fibers v2, for Go functions. See package fibers2 for what the operations mean; in each of them on is
// the table of handlers that belongs to the instruction. An event that the receiver does not take falls through: the
// operation returns an Event without a tag, and nothing has happened.
type V2 struct {
	world
	tags
	system fibers2.System
	byTag  []*Tag // of a number, for return events
}

// NewV2 returns a system without fibers. Close it when it is no longer needed.
func NewV2() *V2 {
	v := new(V2)
	v.init("fibers2", &v.system.Machine)
	v.attach(&v.world, &v.system.Events)
	v.finish = v.end
	return v
}

// Call runs f as the embedder's entry and returns its results. An exception that leaves f, and a trap, are returned as
// an error, a [*Exception] or a [*Trap].
func (v *V2) Call(f func() []Value) ([]Value, error) { return v.call(f) }

// Tag makes a tag whose events carry values of the types given.
func (v *V2) Tag(name string, params ...polyfill.Type) *Tag {
	t := v.tags.Tag(name, params...)
	v.byTag = append(v.byTag, t)
	return t
}

// New makes a fiber that begins with one of the events of start; f finds in [Event.Label] which function of the list it
// is. What f returns arrives as the event returns.
func (v *V2) New(name string, returns *Tag, start polyfill.Table, f Func) polyfill.Fiber {
	v.enter()
	self, trap := v.system.New(v.number(returns), start)
	v.check(fibers2.OpNew, trap)
	v.add(self, name, func() []Value { return f(self, v.message.first()) })
	return self
}

func (v *V2) number(t *Tag) polyfill.Tag {
	if t == nil || t.world != &v.world {
		return 0
	}
	return t.number
}

// Mount makes the issuer f's control parent and sends it the event.
func (v *V2) Mount(f polyfill.Fiber, on polyfill.Table, tag *Tag, values ...Value) Event {
	to, trap := v.system.Mount(f, v.send(tag, values), on)
	v.check(fibers2.OpMount, trap)
	return v.pass(to)
}

// pass performs a transition, which may be a fall through: then nothing arrives (B-EVT-2).
func (v *V2) pass(to polyfill.Transition) Event {
	if to.Label == polyfill.Next {
		return Event{Label: polyfill.Next}
	}
	return v.transfer(to)
}

// Switch suspends f and sends the event to t, which gets f's control parent.
func (v *V2) Switch(f, t polyfill.Fiber, on polyfill.Table, tag *Tag, values ...Value) Event {
	to, trap := v.system.Switch(f, t, v.send(tag, values), on)
	v.check(fibers2.OpSwitch, trap)
	return v.pass(to)
}

// Dismount suspends f and sends the event to its control parent.
func (v *V2) Dismount(f polyfill.Fiber, on polyfill.Table, tag *Tag, values ...Value) Event {
	to, trap := v.system.Dismount(f, v.send(tag, values), on)
	v.check(fibers2.OpDismount, trap)
	return v.pass(to)
}

// Release ends f, which must have no control parent. To release it again does nothing.
func (v *V2) Release(f polyfill.Fiber) {
	v.enter()
	v.piece(f)
	v.check(fibers2.OpRelease, v.system.Release(f))
	v.reap()
}

// MountNew makes a fiber, mounts it and starts it. The first tag of on is its return event. The issuer receives the new
// reference with every event; an event of the return tag, from whomever, comes without a tag and with label
// [polyfill.Next] (B-MNEW-2), and the other labels begin at 0.
func (v *V2) MountNew(name string, on polyfill.Table, f Func) (polyfill.Fiber, Event) {
	v.enter()
	to, trap := v.system.MountNew(on)
	v.check(fibers2.OpMountNew, trap)
	return to.To, v.start(to, name, f)
}

// SwitchNew is MountNew for a fiber that takes the place of f.
func (v *V2) SwitchNew(name string, f polyfill.Fiber, on polyfill.Table, g Func) (polyfill.Fiber, Event) {
	v.enter()
	to, trap := v.system.SwitchNew(f, on)
	v.check(fibers2.OpSwitchNew, trap)
	return to.To, v.start(to, name, g)
}

func (v *V2) start(to polyfill.Transition, name string, f Func) Event {
	v.message.put(nil, nil)
	v.add(to.To, name, func() []Value { return f(to.To, v.message.first()) })
	e := v.transfer(to)
	if e.Label == 0 {
		e.Tag = nil
	}
	e.Label--
	return e
}

// DismountRelease dismounts f and releases it. It returns only if the event is not taken (B-DREL-2).
func (v *V2) DismountRelease(f polyfill.Fiber, tag *Tag, values ...Value) {
	e := v.send(tag, values)
	v.piece(f)
	to, trap := v.system.DismountRelease(f, e)
	v.check(fibers2.OpDismountRelease, trap)
	v.released(f, to)
}

// SwitchRelease switches from f to t and releases f. It returns only if the event is not taken.
func (v *V2) SwitchRelease(f, t polyfill.Fiber, tag *Tag, values ...Value) {
	e := v.send(tag, values)
	v.piece(f)
	to, trap := v.system.SwitchRelease(f, t, e)
	v.check(fibers2.OpSwitchRelease, trap)
	v.released(f, to)
}

func (v *V2) released(f polyfill.Fiber, to polyfill.Transition) {
	if v.machine.State(f) == polyfill.Moribund {
		v.reap()
	}
	v.pass(to)
}

func (v *V2) check(o fibers2.Operation, trap polyfill.Trap) {
	if trap != polyfill.OK {
		v.refused(o, trap)
	}
}

func (v *V2) refused(o fibers2.Operation, trap polyfill.Trap) {
	v.refuse(o.String(), fibers2.Explain(o, trap), trap)
}

// end is what the end of a fiber's function means (B-NEW-5, B-NEW-7).
func (v *V2) end(c *coroutine, results []Value, thrown *Exception) (*coroutine, *Trap) {
	if thrown != nil {
		to, _ := v.system.Throw()
		v.deliver(nil, thrown, nil, to.Label)
		return v.at(to.To), nil
	}
	tag := v.byTag[v.system.ReturnEvent(c.fiber)-1]
	to, trap := v.system.Return(typesOf(results))
	if trap != polyfill.OK {
		return nil, v.trap("return", fibers2.Explain(fibers2.OpReturn, trap), trap)
	}
	v.deliver(results, nil, tag, to.Label)
	return v.at(to.To), nil
}
