package tree

import (
	"cmp"
	"maps"
	"slices"

	"github.com/fiberfill/fiberfill/polyfill"
)

// Tree is an outermost scheduler with all that is below it, and the border to the event loop.
type Tree struct {
	machine polyfill.Machine
	root    Scheduler
	wanted  func()
	pausing func() bool // of the current turn
	done    *Promise[struct{}]
	live    map[*Fiber]int // the fibers that are not over, numbered as they were made
	made    int
	turning bool
	stopped bool
	trace   func(event string, f *Fiber) // set by tests
}

// New returns a tree that consists of an outermost scheduler with the given name. When I/O that the tree waits for is
// complete, wanted is called, once: the event loop then calls [Tree.Turn], which is the only way into the tree. The
// first turn needs no such call. A tree that will not be brought to its end must be stopped, by [Tree.Stop].
func New(name string, wanted func()) *Tree {
	t := &Tree{wanted: wanted, done: NewPromise[struct{}](), live: make(map[*Fiber]int)}
	t.root.init(t, nil, name)
	return t
}

// Root returns the outermost scheduler.
func (t *Tree) Root() *Scheduler { return &t.root }

// Done returns the promise of the whole: it settles when all fibers are over, and is rejected with their errors if some
// have failed, an only one unchanged. That of a tree that is stopped never settles.
func (t *Tree) Done() *Promise[struct{}] { return t.done }

// Turn enters the outermost scheduler and returns when everything in the tree is suspended. After each round through
// its clients, if any are ready, the scheduler asks pausing whether to give control back to the event loop all the
// same, so that it can draw and complete I/O; nil means that it never does. again reports that it did, and that the
// event loop is to call Turn again. A turn that nobody wanted, or after the end, does nothing.
//
// Turn panics inside a turn of the same tree: what re-enters it through frames of others would suspend those together
// with its own (J-SAND-1).
func (t *Tree) Turn(pausing func() bool) (again bool) {
	switch {
	case t.turning:
		panic("asyncio/tree: Tree.Turn inside a turn: only the event loop enters the tree")
	case t.stopped || t.root.over || t.root.composite != nil:
		return false
	}
	if pausing == nil {
		pausing = func() bool { return false }
	}
	t.pausing, t.turning = pausing, true
	ended := false
	defer func() {
		t.turning = false
		if !ended { // a fiber has ended the goroutine by Goexit
			t.machine.Unwind()
			t.Stop()
		}
	}()
	waitsFor, suspended := t.root.fiber.enter()
	ended = true
	switch {
	case !suspended:
		t.done.Settle(struct{}{}, t.root.fiber.err)
	case waitsFor != nil:
		waitsFor.onSettle(t.wanted)
	default:
		again = true
	}
	return again
}

// Stop ends all fibers, children before parents and the last made first. Those that have not started never do; of the
// others the deferred functions run, in which nothing may wait. It may be called again, but not inside a turn.
func (t *Tree) Stop() {
	if t.turning {
		panic("asyncio/tree: Tree.Stop inside a turn")
	}
	t.stopped = true
	fibers := slices.SortedFunc(maps.Keys(t.live), func(a, b *Fiber) int { return cmp.Compare(t.live[b], t.live[a]) })
	clear(t.live)
	for _, f := range fibers {
		t.machine.Kill(f.ref)
		f.stop()
	}
}
