package tree

import (
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/polyfill"
)

// Fiber is what a scheduler has as client: a leaf, made by [Scheduler.Go], or another scheduler. A leaf's function gets
// it and waits with it, by [Await] and [Fiber.Yield].
type Fiber struct {
	name  string
	tree  *Tree
	under *Scheduler // enters this one; nil: the event loop does
	main  func() error

	ref   polyfill.Fiber
	next  func() (promise, bool) // the coroutine
	stop  func()
	yield func(promise) bool
	err   error // that main has returned
}

// released unwinds the stack of a fiber whose tree is stopped: a coroutine of Go cannot be dropped otherwise. Deferred
// functions run, nothing else does.
type released struct{}

// init makes f a fiber of t that has not started.
func (f *Fiber) init(t *Tree, under *Scheduler, name string, main func() error) {
	if t.stopped {
		panic("asyncio/tree: a new fiber " + name + " in a tree that has been stopped")
	}
	*f = Fiber{name: name, tree: t, under: under, main: main, ref: t.machine.New()}
	if f.ref == 0 {
		panic("asyncio/tree: too many fibers are alive")
	}
	f.next, f.stop = iter.Pull(f.run)
	t.made++
	t.live[f] = t.made
}

// Name returns the name that the fiber was given.
func (f *Fiber) Name() string { return f.name }

// Scheduler returns the scheduler whose client f is, in which f may start others.
func (f *Fiber) Scheduler() *Scheduler { return f.under }

// run is the bottom of the fiber's stack.
func (f *Fiber) run(yield func(promise) bool) {
	f.yield = yield
	returned := false
	defer func() {
		if !returned {
			v := recover()
			if v == nil || f.tree.stopped { // nil: Goexit, which goes on through all that entered this fiber
				return
			}
			f.err = &asyncio.PanicError{Fiber: f.name, Value: v, Stack: debug.Stack()}
		}
		f.note("over")
		delete(f.tree.live, f)
		f.tree.machine.Return()
	}()
	f.err = f.main()
	returned = true
}

// suspend gives control to whoever entered f, with what f waits for: nil if it could go on. It returns when f is
// entered again.
func (f *Fiber) suspend(waitsFor promise) {
	if active := f.tree.machine.Active(); active != f.ref {
		panic(fmt.Sprintf("asyncio/tree: fiber %s is to wait, but it is not the one that runs: a fiber waits for "+
			"itself only", f.name))
	}
	if waitsFor == nil {
		f.note("yields")
	} else {
		f.note("waits")
	}
	f.tree.machine.Detach(f.ref)
	if !f.yield(waitsFor) {
		panic(released{})
	}
}

// enter runs f until it suspends itself, and returns what it waits for then, or until it is over.
func (f *Fiber) enter() (waitsFor promise, suspended bool) {
	if _, trap := f.tree.machine.Enter(f.ref); trap != polyfill.OK {
		panic(fmt.Sprintf("asyncio/tree: enter fiber %s: %v", f.name, trap))
	}
	f.note("entered")
	return f.next()
}

// note tells the tests what happens.
func (f *Fiber) note(event string) {
	if f.tree.trace != nil {
		f.tree.trace(event, f)
	}
}

// Yield lets the other clients of the leaf's scheduler run, and then the scheduler's siblings, before it returns. Like
// [Await] it panics if f is not the fiber that runs.
func (f *Fiber) Yield() { f.suspend(nil) }

// Await waits until p is settled and returns its value, or its error if it was rejected. It always gives the others a
// turn, even if p is settled already.
//
// Several leaves may wait for one promise. Await panics if f is not the fiber that runs: nobody waits on behalf of
// another, and so suspends frames that are not its own (J-SAND-1). When the tree is stopped it does not return.
func Await[T any](f *Fiber, p *Promise[T]) (T, error) {
	if p == nil { // else it is the scheduler that fails, and leaves its other clients behind
		panic("asyncio/tree: Await of a nil promise in fiber " + f.name)
	}
	f.suspend(p)
	return p.value, p.err
}
