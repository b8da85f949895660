package actors

import (
	"iter"
	"runtime/debug"

	"github.com/fiberfill/fiberfill/polyfill"
)

// fiber is the stack on which a guest's handler runs, one call after another. It is a Go coroutine; a guest in wasm
// runs on top of it.
type fiber struct {
	actor   *actor
	ref     polyfill.Fiber
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
	message Message // the message to handle

	alive    bool  // returned by the handler
	trap     error // or how the handler ended
	released bool
}

// released is the panic that unwinds the frames of a dropped handler; Go cannot drop them otherwise. Only deferred
// functions run.
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

// enter runs the handler until it blocks or ends. The results count only if it has ended.
func (f *fiber) enter() (alive bool, trap error) {
	f.next()
	return f.alive, f.trap
}

// park gives control back to the runtime. It returns when the runtime enters the fiber again.
func (f *fiber) park() {
	if !f.yield(struct{}{}) {
		panic(released{})
	}
}

// release ends a suspended fiber (E-LIFE-2).
func (f *fiber) release() {
	f.released = true
	f.stop()
}

// call calls the handler and turns a panic into a trap.
func (a *actor) call(m Message) (alive bool, trap error) {
	returned := false
	defer func() {
		if returned || a.fiber != nil && a.fiber.released {
			recover()
			return
		}
		if v := recover(); v != nil {
			alive, trap = false, &TrapError{a.id, v, debug.Stack()}
		} // nil: Goexit, which continues
	}()
	alive = a.handle(m)
	returned = true
	return alive, nil
}
