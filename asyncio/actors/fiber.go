package actors

import (
	"iter"
	"runtime/debug"

	"github.com/fiberfill/fiberfill/polyfill"
)

// fiber is the stack on which a guest's handler runs, one call after the other. It is a coroutine of Go; a guest in
// wasm runs on top of it.
type fiber struct {
	actor   *actor
	ref     polyfill.Fiber
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
	message Message // the one to handle

	alive    bool  // what the handler has returned
	trap     error // or what it ended with
	released bool
}

// released unwinds the frames of a handler whose fiber is dropped. Go cannot drop them otherwise: deferred functions
// run, nothing else does.
type released struct{}

// newFiber allocates the stack.
func newFiber(a *actor, ref polyfill.Fiber) *fiber {
	f := &fiber{actor: a, ref: ref}
	f.next, f.stop = iter.Pull(f.main)
	return f
}

// main is the bottom of the stack.
func (f *fiber) main(yield func(struct{}) bool) {
	f.yield = yield
	for !f.released {
		f.alive, f.trap = f.actor.call(f.message)
		if !f.released {
			yield(struct{}{})
		}
	}
}

// enter runs the handler until it blocks or ends. What it returns counts only in the second case.
func (f *fiber) enter() (alive bool, trap error) {
	f.next()
	return f.alive, f.trap
}

// park gives control back to the runtime and returns when it has come again.
func (f *fiber) park() {
	if !f.yield(struct{}{}) {
		panic(released{})
	}
}

// release ends the fiber, which is suspended (E-LIFE-2).
func (f *fiber) release() {
	f.released = true
	f.stop()
}

// call calls the handler and makes a panic a trap.
func (a *actor) call(m Message) (alive bool, trap error) {
	returned := false
	defer func() {
		if returned || a.fiber != nil && a.fiber.released {
			recover()
			return
		}
		if v := recover(); v != nil {
			alive, trap = false, &TrapError{a.id, v, debug.Stack()}
		} // else it is Goexit, which goes on
	}()
	alive = a.handle(m)
	returned = true
	return alive, nil
}
