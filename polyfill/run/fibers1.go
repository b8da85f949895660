package run

import (
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/fibers1"
)

// Fibers1 is fibers v1 for Go functions. See package fibers1 for what the operations mean. In each of them, on is the
// table of the event blocks around it. A refused operation traps and does not return.
type Fibers1 struct {
	world
	tags
	system fibers1.System
}

// NewFibers1 returns a system without fibers. Close it when it is no longer needed.
func NewFibers1() *Fibers1 {
	v := new(Fibers1)
	v.init("fibers1", &v.system, &v.system.Machine, &v.system.Plan)
	v.tags = tags{&v.world, &v.system.Events}
	return v
}

// Func is the function of a fiber. It is called with the fiber's own reference and the event that entered the fiber
// first. The variables that it captures are the operands t* of fiber.new (A-NEW-2).
type Func func(self polyfill.Fiber, first Event) []Value

// Call runs f as the embedder's entry and returns its results. An exception that leaves f, and a trap, are returned as
// an error, a [*Exception] or a [*Trap].
func (v *Fibers1) Call(f func() []Value) ([]Value, error) { return v.call(f) }

// New makes a fiber; it is first resumed with one of the events of start.
func (v *Fibers1) New(name string, results polyfill.Types, start polyfill.Table, f Func) polyfill.Fiber {
	v.enter()
	self, trap := v.system.New(results, start)
	v.settle(trap)
	v.add(self, name, func() []Value { return f(self, v.first()) })
	return self
}

// Spawn makes a fiber and enters it at once.
func (v *Fibers1) Spawn(name string, results polyfill.Types, on polyfill.Table, f Func) Event {
	v.send(nil, nil)
	trap := v.system.Spawn(results, on)
	if trap == polyfill.OK {
		self := v.plan.To
		v.add(self, name, func() []Value { return f(self, v.first()) })
	}
	return v.transfer(trap)
}

// Suspend suspends f and sends the event to its resume parent.
func (v *Fibers1) Suspend(f polyfill.Fiber, on polyfill.Table, tag *Tag, values ...Value) Event {
	return v.transfer(v.system.Suspend(f, v.send(tag, values), on))
}

// Resume resumes f with the event. Event.Tag is nil when f's function has returned; its results are the values.
func (v *Fibers1) Resume(f polyfill.Fiber, on polyfill.Table, tag *Tag, values ...Value) Event {
	return v.transfer(v.system.Resume(f, v.send(tag, values), on))
}

// Switch suspends f and sends the event to t, which takes f's place.
func (v *Fibers1) Switch(f, t polyfill.Fiber, on polyfill.Table, tag *Tag, values ...Value) Event {
	return v.transfer(v.system.Switch(f, t, v.send(tag, values), on))
}

// Retire ends f and sends the event to its resume parent. It does not return.
func (v *Fibers1) Retire(f polyfill.Fiber, tag *Tag, values ...Value) {
	v.transfer(v.system.Retire(f, v.send(tag, values)))
}

// RetireTo ends f and sends the event to t, which takes f's place. It does not return.
func (v *Fibers1) RetireTo(f, t polyfill.Fiber, tag *Tag, values ...Value) {
	v.transfer(v.system.RetireTo(f, t, v.send(tag, values)))
}

// Release ends f, which must be suspended.
func (v *Fibers1) Release(f polyfill.Fiber) {
	v.enter()
	v.settle(v.system.Release(f))
}
