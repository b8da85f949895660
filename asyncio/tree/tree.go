package tree

import (
	"cmp"
	"maps"
	"slices"

	"github.com/fiberfill/fiberfill/polyfill"
)

// Tree is an outermost scheduler with everything below it. It is what the event loop sees.
type Tree struct {
	machine polyfill.Machine
	root    Scheduler
	wanted  func()
	pausing func() bool // of the current turn
	done    *Promise[struct{}]
	live    map[*Fiber]int // the fibers that are alive, numbered in the order they were made
	made    int
	turning bool
	stopped bool
	trace   func(event string, f *Fiber) // set by tests
}

// New returns a tree that consists of an outermost scheduler with the given name. When I/O that the tree waits for
// completes, the tree calls wanted, once per turn. The event loop then calls [Tree.Turn], which is the only way into
// the tree. The first turn needs no such call. Stop a tree that will not run to its end with [Tree.Stop].
func New(name string, wanted func()) *Tree {
	t := &Tree{wanted: wanted, done: NewPromise[struct{}](), live: make(map[*Fiber]int)}
	t.root.init(t, nil, name)
	return t
}

// Root returns the outermost scheduler.
func (t *Tree) Root() *Scheduler { return &t.root }

// Done returns a promise that settles when all fibers are over. If fibers have failed, it is rejected with their errors
// joined; a single error stays unchanged. If the tree is stopped it never settles.
func (t *Tree) Done() *Promise[struct{}] { return t.done }

// Turn enters the outermost scheduler and returns when everything in the tree is suspended. After each round through
// its clients, if some are still ready, the scheduler calls pausing: true gives control back to the event loop, so that
// it can draw and complete I/O. A nil pausing never pauses. again reports such a pause; the event loop must then call
// Turn again. A turn that was not wanted, or after the end, does nothing.
//
// Turn panics inside a turn of the same tree: a fiber that waited in the inner turn would suspend the frames of the
// outer one too (J-SAND-1).
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
		if !ended { // a fiber called Goexit
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

// Stop ends all fibers, children before parents and the last made first. Fibers that have not started never do. Of the
// others only deferred functions run, which must not wait. Stop may be called again, but not inside a turn.
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
