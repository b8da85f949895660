package run

import (
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/fibers2"
)

// Fibers2 is fibers v2 for Go functions. See package fibers2 for what the operations mean. In each of them, on is the
// table of handlers that belongs to the instruction. If the receiver does not take the event, the operation falls
// through: it returns an Event without a tag, and nothing has changed. A refused operation traps and does not return.
type Fibers2 struct {
	world
	tags
	system fibers2.System
}

// NewFibers2 returns a system without fibers. Close it when it is no longer needed.
func NewFibers2() *Fibers2 {
	v := new(Fibers2)
	v.init("fibers2", &v.system, &v.system.Machine, &v.system.Plan)
	v.tags = tags{&v.world, &v.system.Events}
	return v
}

// Call runs f as the embedder's entry and returns its results. An exception that leaves f, and a trap, are returned as
// an error, a [*Exception] or a [*Trap].
func (v *Fibers2) Call(f func() []Value) ([]Value, error) { return v.call(f) }

// New makes a fiber that begins with one of the events of start; f finds in [Event.Label] which one. The results of f
// arrive in its control parent as the event returns.
func (v *Fibers2) New(name string, returns *Tag, start polyfill.Table, f Func) polyfill.Fiber {
	v.enter()
	self, trap := v.system.New(v.number(returns), start)
	v.settle(trap)
	v.add(self, name, func() []Value { return f(self, v.first()) })
	return self
}

// Mount makes the issuer f's control parent and sends it the event.
func (v *Fibers2) Mount(f polyfill.Fiber, on polyfill.Table, tag *Tag, values ...Value) Event {
	return v.transfer(v.system.Mount(f, v.send(tag, values), on))
}

// Switch suspends f and sends the event to t, which gets f's control parent.
func (v *Fibers2) Switch(f, t polyfill.Fiber, on polyfill.Table, tag *Tag, values ...Value) Event {
	return v.transfer(v.system.Switch(f, t, v.send(tag, values), on))
}

// Dismount suspends f and sends the event to its control parent.
func (v *Fibers2) Dismount(f polyfill.Fiber, on polyfill.Table, tag *Tag, values ...Value) Event {
	return v.transfer(v.system.Dismount(f, v.send(tag, values), on))
}

// Release ends f, which must have no control parent. A second release does nothing.
func (v *Fibers2) Release(f polyfill.Fiber) {
	v.enter()
	v.settle(v.system.Release(f))
}

// MountNew makes a fiber, mounts it and starts it. The first tag of on is its return event. The issuer receives the new
// reference with every event. An event of the return tag from any fiber arrives without a tag and with label
// [polyfill.Next] (B-MNEW-2). The labels of the others are their places in on, from 1.
func (v *Fibers2) MountNew(name string, on polyfill.Table, f Func) (polyfill.Fiber, Event) {
	v.send(nil, nil)
	return v.begin(v.system.MountNew(on), name, f)
}

// SwitchNew is MountNew for a fiber that takes the place of f.
func (v *Fibers2) SwitchNew(name string, f polyfill.Fiber, on polyfill.Table, g Func) (polyfill.Fiber, Event) {
	v.send(nil, nil)
	return v.begin(v.system.SwitchNew(f, on), name, g)
}

func (v *Fibers2) begin(trap polyfill.Trap, name string, f Func) (polyfill.Fiber, Event) {
	if trap == polyfill.OK {
		self := v.plan.To
		v.add(self, name, func() []Value { return f(self, v.first()) })
	}
	e := v.transfer(trap)
	return v.plan.Made, e
}

// DismountRelease dismounts f and releases it. It returns only if the event is not taken (B-DREL-2).
func (v *Fibers2) DismountRelease(f polyfill.Fiber, tag *Tag, values ...Value) {
	v.transfer(v.system.DismountRelease(f, v.send(tag, values)))
}

// SwitchRelease switches from f to t and releases f. It returns only if the event is not taken.
func (v *Fibers2) SwitchRelease(f, t polyfill.Fiber, tag *Tag, values ...Value) {
	v.transfer(v.system.SwitchRelease(f, t, v.send(tag, values)))
}
