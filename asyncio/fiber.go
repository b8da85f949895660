//go:build !tinygo

package asyncio

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"time"

	"github.com/fiberfill/fiberfill/asyncio/internal/key"
	"github.com/fiberfill/fiberfill/polyfill"
)

// Fiber is a handle on a function that runs as a fiber: straight-line code that may wait.
//
// The function receives its fiber as an argument and passes it to everything that waits: [Fetch], [Sleep], [Block].
// While a fiber waits, the other fibers of its loop run. A fiber is not a goroutine. It is not preempted, and an
// operation that blocks in Go's own way (a channel, a mutex, time.Sleep) blocks the whole loop; put such calls into
// [Block]. Another goroutine must not wait on behalf of a fiber: instead of a go statement and a WaitGroup use
// [Fiber.Go] and [Fiber.WaitAll]. A fiber must not wait or end between [runtime.LockOSThread] and UnlockOSThread,
// because Go's runtime then ends the program. To run all fibers on one thread, lock the goroutine before it calls
// [Loop.Run].
//
// A Fiber is a [context.Context] that is done when the fiber has been cancelled or is over. In a cancelled fiber the
// current wait, and every later one, returns the cause as its error. Functions that wait take the fiber, or a context
// derived from it: with one of [context.WithTimeout] the wait ends at that time, too, and the fiber goes on. The
// methods Wait, WaitAll and Yield know the fiber alone; [Arena] makes a fiber of a derived context, whose methods
// honour it.
//
// Cancel, Name and the methods of Context may be called from any goroutine; the other methods only from fibers of the
// same loop.
//
// Fibers started by [Fiber.Go] do not outlive their parent.
type Fiber struct {
	loop   *Loop
	name   string
	export string // the function that JavaScript called; empty for other fibers
	fn     func(*Fiber) error
	done   func(error) // called once, with the result
	atEnd  []func()    // called when the fiber is over
	ctx    context.Context
	cancel context.CancelCauseFunc

	ref   polyfill.Fiber
	next  func() (struct{}, bool) // the coroutine; nil until the fiber starts
	stop  func()
	yield func(struct{}) bool

	waits       uint32 // as the scheduler counts them
	waitsFor    string // in words; empty while it does not wait
	firm        bool   // cancellation does not end the current wait
	forAll      bool   // the current wait is for its children
	lined       bool   // it is in a line: see sync.go
	locks       *Mutex // the one that it is about to take, or waits for
	interrupted bool   // cancellation ended the last wait
	expired     bool   // the end of a derived context ended the last wait
	asked       bool   // cancelled, and its turn to end came during a wait
	panicked    []byte // stack of the last panic in a function given to Block

	parent     *Fiber // nil: the fiber is the loop's
	prev, succ *Fiber // neighbours in the scope that it belongs to
	children   scope
	watch      func(child *Fiber) // called when a child is over, before any fiber runs; may be nil
	waiters    []waiter
	gone       int // how many of waiters have given up
	over       bool
	err        error
	reported   bool // err has been returned to somebody
}

// stopped unwinds a fiber whose loop is torn down.
type stopped struct{}

func (l *Loop) newFiber(ctx context.Context, parent *Fiber, name string, fn func(*Fiber) error) *Fiber {
	f := &Fiber{loop: l, parent: parent, name: name, fn: fn}
	f.ctx, f.cancel = context.WithCancelCause(ctx)
	return f
}

// Go makes a child of f that will call fn, and returns it at once. fn starts when f waits, after all fibers that are
// ready now.
//
// The child's context descends from f's. When f's function returns, children that are still alive are cancelled one
// after another, the last started first, and f is over only after them. [Fiber.Wait] and [Fiber.WaitAll] return a
// child's failure; a failure that f has not asked for becomes f's own. Go panics if f is over.
func (f *Fiber) Go(name string, fn func(f *Fiber) error) *Fiber { return f.child(f.ctx, name, fn) }

func (f *Fiber) child(ctx context.Context, name string, fn func(*Fiber) error) *Fiber {
	if f.over {
		panic("asyncio: Fiber.Go: " + f.name + " is over and can have no more children")
	}
	child := f.loop.newFiber(ctx, f, name, fn)
	f.children.add(child)
	f.loop.spawn(child)
	return child
}

// Wait waits until other is over and returns its error, unchanged: nil if its function returned nil, a [*PanicError] if
// it panicked. If other is over already, Wait returns at once; it may be called any number of times. If f is cancelled
// meanwhile, Wait returns the cause.
//
// Any number of fibers of one loop may wait for the same fiber. Fibers that wait for each other in a cycle get a
// [*DeadlockError] each, as soon as nothing else is outstanding in their loop; while another fiber sleeps or fetches
// they keep waiting.
func (f *Fiber) Wait(other *Fiber) error {
	f.mustRun("Wait")
	if other.loop != f.loop {
		panic("asyncio: Fiber.Wait: " + other.name + " belongs to another loop")
	}
	if !other.over {
		if f.ctx.Err() != nil {
			return context.Cause(f.ctx)
		}
		other.waiters = append(other.waiters, waiter{f, f.waits + 1})
		if err := f.wait("fiber " + other.name); err != nil {
			other.gaveUp()
			return err
		}
	}
	other.reported = true
	return other.err
}

// WaitAll waits until all children of f are over and returns nil. If a child fails, WaitAll returns its error at once,
// and the other children go on. Each failure is returned once: call WaitAll again to wait for the others, or return the
// error, which cancels them. A child that was cancelled and returns the cause, or its Err, has not failed. If f is
// cancelled, before or meanwhile, WaitAll returns the cause.
func (f *Fiber) WaitAll() error {
	f.mustRun("WaitAll")
	for {
		if err := f.children.takeFailure(); err != nil {
			return err
		}
		if f.ctx.Err() != nil {
			return context.Cause(f.ctx)
		}
		if f.children.first == nil {
			return nil
		}
		if err := f.waitChildren(); err != nil {
			return err
		}
	}
}

// EndAll cancels the children that are left, one after another, the last started first, and waits until all are over,
// even if f is cancelled. It returns their failures that no fiber has waited for, joined; nil if there are none. The
// same happens by itself when f's function returns; f may have further children after EndAll.
func (f *Fiber) EndAll() error {
	f.mustRun("EndAll")
	err := f.endChildren(nil)
	f.children.cause = nil
	return err
}

func (f *Fiber) waitChildren() error {
	f.forAll = true
	err := f.wait("its children")
	f.forAll = false
	return err
}

// Yield lets all other ready fibers run first. It returns nil, or the cause if f is cancelled. If no other fiber is
// ready it costs no switch; once the turn's time budget is used up, the event loop runs.
func (f *Fiber) Yield() error {
	f.mustRun("Yield")
	f.waits++
	f.leave(f.loop.scheduler.Yield(f.loop.now()))
	return context.Cause(f.ctx)
}

// Sleep waits for at least d. It returns nil, or the cause as soon as the fiber is cancelled or ctx, which is the fiber
// or derives from it, is done. A d of zero or less means [Fiber.Yield].
func Sleep(ctx context.Context, d time.Duration) error {
	f := fiberOf(ctx, "Sleep")
	if d <= 0 {
		f.Yield()
		return f.ended(ctx)
	}
	if err := f.ended(ctx); err != nil {
		return err
	}
	return f.within(ctx, func() error {
		f.waitsFor = "a timer"
		now := time.Since(f.loop.epoch)
		// Added in nanoseconds, because a sum of milliseconds rounds and ends one late. min keeps the sum from
		// overflowing.
		until := now + min(d, 1<<62)
		f.waits++
		f.leave(f.loop.scheduler.Sleep(milliseconds(until), milliseconds(now)))
		return f.woken()
	})
}

// Cancel cancels f and its children. Their contexts are done at once, with the given cause. Then their waits end with
// that cause, one fiber at a time: children before parents, among siblings the last started first. Fibers that have not
// started never do. A nil cause means [context.Canceled]. The first cause counts; cancelling a fiber again, or after
// its end, does nothing. Cancel returns at once, without waiting for the fiber's end, and may be called from any
// goroutine.
func (f *Fiber) Cancel(cause error) {
	f.cancel(cause)
	f.loop.post(message{cancelFiber, f, 0})
}

// Name returns the name that the fiber was given.
func (f *Fiber) Name() string { return f.name }

// String returns the name and, while the fiber waits, what it waits for.
func (f *Fiber) String() string {
	if f.waitsFor == "" {
		return f.name
	}
	held := ""
	if f.locks != nil && f.locks.holder != nil {
		held = " that " + f.locks.holder.name + " has"
	}
	return f.name + " (waits for " + f.waitsFor + held + ")"
}

// Deadline returns the deadline of the context that f's descends from.
func (f *Fiber) Deadline() (time.Time, bool) { return f.ctx.Deadline() }

// Done returns a channel that is closed when f is cancelled or over.
func (f *Fiber) Done() <-chan struct{} { return f.ctx.Done() }

// Err returns nil while f is neither cancelled nor over, and then the context's error. [context.Cause] returns the
// cause, [Fiber.Wait] the error that f ended with.
func (f *Fiber) Err() error { return f.ctx.Err() }

// Value returns the value of a key in the loop's context, or in the context that the fiber was given: see [Arena] and
// [Loop.Do].
func (f *Fiber) Value(of any) any {
	switch of {
	case key.Fiber{}:
		return f
	case key.Requests{}:
		return &f.loop.requests
	}
	return f.ctx.Value(of)
}

// mustRun panics unless f is the running fiber. The scheduler would take the wait for one of the running fiber.
func (f *Fiber) mustRun(op string) {
	switch r := f.loop.running; r {
	case f:
	case nil:
		panic(fmt.Sprintf("asyncio: %s was called for fiber %s while no fiber runs: instead of a go statement use "+
			"Fiber.Go, and keep calls that wait for fibers out of Block", op, f.name))
	default:
		panic(fmt.Sprintf("asyncio: %s was called for fiber %s while fiber %s runs: a fiber can only "+
			"wait for itself", op, f.name, r.name))
	}
}

// wait parks f until the wait completes or, unless the wait is firm, f is cancelled.
func (f *Fiber) wait(what string) error {
	f.waitsFor = what
	f.waits++
	f.loop.suspect = true
	f.leave(f.loop.scheduler.Wait(f.loop.now()))
	return f.woken()
}

// waitOutside is wait, for an event outside the loop. It ends with ctx, too.
func (f *Fiber) waitOutside(ctx context.Context, what string) error {
	f.loop.external++
	err := f.within(ctx, func() error { return f.wait(what) })
	f.loop.external--
	return err
}

func (f *Fiber) woken() error {
	// A completion for a cancelled fiber is ignored until its turn to end comes, see scope.end: a timer must not jump
	// the queue.
	for !f.firm && !f.asked && f.ctx.Err() != nil {
		f.loop.external++ // the canceller will interrupt f
		f.waits++
		f.leave(f.loop.scheduler.Wait(f.loop.now()))
		f.loop.external--
	}
	f.waitsFor = ""
	if f.interrupted {
		f.interrupted = false
		return context.Cause(f.ctx)
	}
	return nil
}

// leave obeys the scheduler's command. If another fiber runs next, it switches to the loop, which carries the command
// out.
func (f *Fiber) leave(command Command) {
	if command == Command(f.ref) {
		return
	}
	f.loop.command = command
	if !f.yield(struct{}{}) {
		panic(stopped{})
	}
}

// resume runs the fiber until it parks or ends.
func (f *Fiber) resume() {
	if f.next == nil {
		f.next, f.stop = iter.Pull(f.main)
	}
	f.next()
}

// main is the bottom of the fiber's stack.
func (f *Fiber) main(yield func(struct{}) bool) {
	f.yield = yield
	var err error
	returned := false
	defer func() {
		if f.loop.stopping { // fn may have recovered from it and returned
			recover()
			f.finish(errStopped)
			return
		}
		if !returned {
			v := recover()
			if v == nil { // Goexit ends the goroutine: Loop.abandon ends the other fibers
				f.finish(errGoexit)
				return
			}
			err = &PanicError{Fiber: f.name, Export: f.export, Value: v, Stack: append(debug.Stack(), f.panicked...)}
		}
		f.finish(f.endChildren(err))
		f.loop.command = f.loop.scheduler.Finish(false, f.loop.now())
	}()
	// f may have been cancelled after the scheduler had named it.
	if err = context.Cause(f.ctx); err == nil {
		err = f.fn(f)
	}
	returned = true
}

// endChildren cancels the remaining children and waits for them. It returns err joined with the children's failures
// that f has not asked for.
func (f *Fiber) endChildren(err error) error {
	if f.children.first != nil {
		f.children.end(endOf(err), false)
		f.drain()
	}
	return join(err, f.children.takeFailures())
}

// drain waits until all children are over, even if f is cancelled: cancelling f ends the children.
func (f *Fiber) drain() {
	f.firm = true
	for f.children.first != nil {
		f.waitChildren()
	}
	f.firm = false
}

// interrupt ends f's children, the last started first, and then f's wait, or f itself if it has not started. All their
// contexts are done already.
func (f *Fiber) interrupt() {
	switch {
	case f.over:
	case f.children.first != nil:
		f.children.end(context.Cause(f.ctx), false) // childOver continues when none is left
	case f.next == nil && f.loop.scheduler.Drop(f.ref):
		f.finish(context.Cause(f.ctx))
	case f.waitsFor != "" && !f.firm:
		f.asked = true
		f.interrupted = waiter{f, f.waits}.wake() || f.interrupted
	}
}

// childOver is called when a child of f is over.
func (f *Fiber) childOver(child *Fiber) {
	s := &f.children
	if f.watch != nil {
		f.watch(child)
	}
	s.endNext()
	switch {
	case s.first != nil:
		// A failure ends WaitAll at once, unless f is being ended: then its children end first.
		if f.forAll && len(s.failed) > 0 && !f.firm && s.cause == nil {
			waiter{f, f.waits}.wake()
		}
	default:
		if f.ctx.Err() != nil {
			f.interrupt()
		}
		if f.forAll {
			waiter{f, f.waits}.wake()
		}
	}
}

// finish records that f is over and wakes the fibers that wait for it. If f ran, finish comes before the scheduler's
// Finish, so that those fibers run in the same turn.
func (f *Fiber) finish(err error) {
	f.over, f.err = true, err
	f.loop.suspect = true // it may have been somebody's hope
	failed := err != nil && !f.ownCause(err)
	f.cancel(errOver)
	if f.ref != 0 {
		f.loop.fibers[f.ref.Index()] = nil
	}
	for _, w := range f.waiters {
		if w.wake() {
			f.reported = true
		}
	}
	f.waiters = nil
	if f.done != nil {
		f.done(err)
		f.reported = true
	}
	for _, fn := range f.atEnd {
		fn()
	}
	f.scope().remove(f, failed && !f.reported)
	if f.parent != nil {
		f.parent.childOver(f)
	}
	f.fn, f.done, f.atEnd, f.watch, f.next, f.stop, f.yield = nil, nil, nil, nil, nil, nil, nil
}

func (f *Fiber) scope() *scope {
	if f.parent != nil {
		return &f.parent.children
	}
	return &f.loop.top
}
