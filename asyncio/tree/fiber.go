package tree

import (
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/polyfill"
)

// Fiber is a client of a scheduler: a leaf, made by [Scheduler.Go], or another scheduler. A leaf's function receives
// its Fiber and waits through it, with [Await] and [Fiber.Yield].
type Fiber struct {
	name  string
	tree  *Tree
	under *Scheduler // the scheduler that enters this fiber; nil: the event loop does
	main  func() error

	ref   polyfill.Fiber
	next  func() (promise, bool) // the coroutine
	stop  func()
	yield func(promise) bool
	err   error // returned by main
}

// released is the panic that unwinds the stack of a fiber whose tree is stopped; a Go coroutine cannot be dropped
// otherwise. Only deferred functions run.
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

// Scheduler returns the scheduler that f is a client of. f may start further clients in it.
func (f *Fiber) Scheduler() *Scheduler { return f.under }

// run is the bottom of the fiber's stack.
func (f *Fiber) run(yield func(promise) bool) {
	f.yield = yield
	returned := false
	defer func() {
		if !returned {
			v := recover()
			if v == nil || f.tree.stopped { // nil: Goexit, which continues through the fibers that entered this one
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

// suspend gives control to the scheduler that entered f, and tells it what f waits for: nil if f could go on. It
// returns when f is entered again.
func (f *Fiber) suspend(waitsFor promise) {
	if active := f.tree.machine.Active(); active != f.ref {
		panic(fmt.Sprintf("asyncio/tree: a wait was called for fiber %s, which is not running: a fiber can only wait "+
			"for itself", f.name))
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

// enter runs f until it suspends itself or is over. If f has suspended itself, enter returns what f waits for.
func (f *Fiber) enter() (waitsFor promise, suspended bool) {
	if _, trap := f.tree.machine.Enter(f.ref); trap != polyfill.OK {
		panic(fmt.Sprintf("asyncio/tree: enter fiber %s: %v", f.name, trap))
	}
	f.note("entered")
	return f.next()
}

// note reports an event to the tests.
func (f *Fiber) note(event string) {
	if f.tree.trace != nil {
		f.tree.trace(event, f)
	}
}

// Yield lets the other clients of the leaf's scheduler run, and then the scheduler's siblings, before it returns. Like
// [Await], it panics if f is not the running fiber.
func (f *Fiber) Yield() { f.suspend(nil) }

// Await waits until p is settled and returns its value, or its error if it was rejected. Other fibers always get a
// turn, even if p is settled already.
//
// Several leaves may wait for one promise. Await panics if f is not the running fiber, because it would suspend another
// fiber's frames (J-SAND-1). If the tree is stopped, Await does not return; only deferred functions run.
func Await[T any](f *Fiber, p *Promise[T]) (T, error) {
	if p == nil { // otherwise the scheduler would panic, and lose its other clients
		panic("asyncio/tree: Await of a nil promise in fiber " + f.name)
	}
	f.suspend(p)
	return p.value, p.err
}
