package run

import (
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/fibers1"
)

// V1 is system A, fibers v1, for Go functions. See package fibers1 for what the operations mean; in each of them on is
// the table of the event blocks around it. Operations that are refused trap, and do not return then.
type V1 struct {
	world
	tags
	system fibers1.System
}

// NewV1 returns a system without fibers. Close it when it is no longer needed.
func NewV1() *V1 {
	v := new(V1)
	v.init("fibers1", &v.system.Machine)
	v.attach(&v.world, &v.system.Events)
	v.finish = v.end
	return v
}

// Func is the function of a fiber. It is called with the fiber's own reference and the event that has entered it first.
// What it captures when the fiber is made are the operands t* of fiber.new (A-NEW-2).
type Func func(self polyfill.Fiber, first Event) []Value

// Call runs f as the embedder's entry and returns its results. An exception that leaves f, and a trap, are returned as
// an error, a [*Exception] or a [*Trap].
func (v *V1) Call(f func() []Value) ([]Value, error) { return v.call(f) }

// New makes a fiber; it is first resumed with one of the events of start.
func (v *V1) New(name string, results polyfill.Types, start polyfill.Table, f Func) polyfill.Fiber {
	v.enter()
	self, trap := v.system.New(results, start)
	v.check(fibers1.OpNew, trap)
	v.add(self, name, func() []Value { return f(self, v.message.first()) })
	return self
}

// Spawn makes a fiber and enters it at once.
func (v *V1) Spawn(name string, results polyfill.Types, on polyfill.Table, f Func) Event {
	v.enter()
	to, trap := v.system.Spawn(results, on)
	v.check(fibers1.OpSpawn, trap)
	v.message.put(nil, nil)
	v.add(to.To, name, func() []Value { return f(to.To, v.message.first()) })
	return v.transfer(to)
}

// Suspend suspends f and sends the event to its resume parent.
func (v *V1) Suspend(f polyfill.Fiber, on polyfill.Table, tag *Tag, values ...Value) Event {
	to, trap := v.system.Suspend(f, v.send(tag, values), on)
	v.check(fibers1.OpSuspend, trap)
	return v.transfer(to)
}

// Resume resumes f with the event. Event.Tag is nil when f's function has returned; its results are the values.
func (v *V1) Resume(f polyfill.Fiber, on polyfill.Table, tag *Tag, values ...Value) Event {
	to, trap := v.system.Resume(f, v.send(tag, values), on)
	v.check(fibers1.OpResume, trap)
	return v.transfer(to)
}

// Switch suspends f and sends the event to t, which takes f's place.
func (v *V1) Switch(f, t polyfill.Fiber, on polyfill.Table, tag *Tag, values ...Value) Event {
	to, trap := v.system.Switch(f, t, v.send(tag, values), on)
	v.check(fibers1.OpSwitch, trap)
	return v.transfer(to)
}

// Retire ends f and sends the event to its resume parent. It does not return.
func (v *V1) Retire(f polyfill.Fiber, tag *Tag, values ...Value) {
	e := v.send(tag, values)
	v.piece(f)
	to, trap := v.system.Retire(f, e)
	v.check(fibers1.OpRetire, trap)
	v.reap()
	v.transfer(to)
}

// RetireTo ends f and sends the event to t, which takes f's place. It does not return.
func (v *V1) RetireTo(f, t polyfill.Fiber, tag *Tag, values ...Value) {
	e := v.send(tag, values)
	v.piece(f)
	to, trap := v.system.RetireTo(f, t, e)
	v.check(fibers1.OpRetireTo, trap)
	v.reap()
	v.transfer(to)
}

// Release ends f, which must be suspended.
func (v *V1) Release(f polyfill.Fiber) {
	v.enter()
	v.piece(f)
	v.check(fibers1.OpRelease, v.system.Release(f))
	v.reap()
}

func (v *V1) check(o fibers1.Operation, trap polyfill.Trap) {
	if trap != polyfill.OK {
		v.refused(o, trap)
	}
}

func (v *V1) refused(o fibers1.Operation, trap polyfill.Trap) {
	v.refuse(o.String(), fibers1.Explain(o, trap), trap)
}

// end is what the end of a fiber's function means (A-RET-1, A-EXC-1).
func (v *V1) end(c *coroutine, results []Value, thrown *Exception) (*coroutine, *Trap) {
	var to polyfill.Transition
	var trap polyfill.Trap
	if thrown != nil {
		to, trap = v.system.Throw()
	} else {
		to, trap = v.system.Return(typesOf(results))
	}
	if trap != polyfill.OK {
		return nil, v.trap("return", fibers1.Explain(fibers1.OpReturn, trap), trap)
	}
	v.deliver(results, thrown, nil, to.Label)
	return v.at(to.To), nil
}
