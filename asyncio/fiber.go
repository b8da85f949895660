//go:build !tinygo

package asyncio

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"time"

	"github.com/fiberfill/fiberfill/polyfill"
)

// Fiber is one straight line of code that may wait, and a handle on it.
//
// A fiber receives itself as argument and hands itself down to whatever waits on its behalf: [Fetch], [Sleep], [Block].
// While it waits the other fibers of its loop run. It is not a goroutine: it is not preempted, and what blocks in Go's
// own way, a channel, a mutex, time.Sleep, blocks the whole loop. Such a call belongs into [Block]. A goroutine must
// not wait on behalf of a fiber: where Go programs have a go statement and a WaitGroup, a fiber has [Fiber.Go] and
// [Fiber.WaitAll]. And a fiber must not wait or end between [runtime.LockOSThread] and UnlockOSThread, for which Go's
// runtime ends the program; on a goroutine that is locked to its thread before it calls [Loop.Run] all fibers run on
// that thread.
//
// A Fiber is a [context.Context] that is done when the fiber has been cancelled or is over. When it is cancelled,
// whatever it waits for ends with the cause as error, and so does everything that it tries to wait for later. Cancel,
// Name and the methods of Context may be called from any goroutine; the others are for the fiber itself and for fibers
// of the same loop.
//
// The fibers that it starts by [Fiber.Go] do not outlive it.
type Fiber struct {
	loop   *Loop
	name   string
	export string // the function that JavaScript called, if this is such a call
	fn     func(*Fiber) error
	done   func(error) // told the result, once
	atEnd  []func()    // called when the fiber is over
	ctx    context.Context
	cancel context.CancelCauseFunc

	ref   polyfill.Fiber
	next  func() (struct{}, bool) // the coroutine; nil until the fiber starts
	stop  func()
	yield func(struct{}) bool

	waits       uint32 // as the scheduler counts them
	waitsFor    string // in words; empty while it does not wait
	firm        bool   // the current wait does not end by cancelling
	forAll      bool   // the current wait is for its children
	interrupted bool   // the last wait ended by cancelling
	asked       bool   // cancelled, and its turn to end came while it waited
	panicked    []byte // where the last panic was that has come from a goroutine, see Block

	parent     *Fiber // nil: the fiber is the loop's
	prev, succ *Fiber // in the scope that it belongs to
	children   scope
	watch      func(child *Fiber) // told each child that is over, before anybody runs; may be nil
	waiters    []waiter
	gone       int // so many of waiters have given up
	over       bool
	err        error
	reported   bool // somebody has been told err
}

// stopped unwinds a fiber whose loop is torn down.
type stopped struct{}

func (l *Loop) newFiber(parent *Fiber, name string, fn func(*Fiber) error) *Fiber {
	f := &Fiber{loop: l, parent: parent, name: name, fn: fn}
	ctx := l.ctx
	if parent != nil {
		ctx = parent.ctx
	}
	f.ctx, f.cancel = context.WithCancelCause(ctx)
	return f
}

// Go makes a child of f that will call fn, and returns it at once: fn starts when f waits, after all fibers that are
// ready now.
//
// The child's context descends from f's. When f's function returns, children that are not over are cancelled, the last
// started first and each when the one before is over, and f is over only after them. A child's failure is told by
// [Fiber.Wait] or [Fiber.WaitAll]; if f returns without having asked, it becomes f's. Go panics if f is over.
func (f *Fiber) Go(name string, fn func(f *Fiber) error) *Fiber {
	if f.over {
		panic("asyncio: Fiber.Go: " + f.name + " is over and can have no more children")
	}
	child := f.loop.newFiber(f, name, fn)
	f.children.add(child)
	f.loop.spawn(child)
	return child
}

// Wait waits until other is over and returns its error, unchanged: nil if its function returned nil, a [*PanicError] if
// it panicked. For a fiber that is over it returns at once, as often as it is called. If f is cancelled meanwhile it
// returns the cause.
//
// Any number of fibers of one loop may wait for the same fiber. When fibers wait for each other in a circle each of
// them gets a [*DeadlockError] as soon as nothing else is outstanding in their loop: while another fiber sleeps or
// fetches they wait on.
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

// WaitAll waits until all children of f are over and returns nil, or until one has failed and returns its error while
// the others go on. Each failure is returned once: call WaitAll again to wait for the others, or return the error,
// which cancels them. A child that ends with the cause it was cancelled with, or with what its Err returns then, has
// not failed. If f is cancelled, before or meanwhile, WaitAll returns the cause.
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

func (f *Fiber) waitChildren() error {
	f.forAll = true
	err := f.wait("its children")
	f.forAll = false
	return err
}

// Yield lets all other fibers that are ready run first. It returns nil, or the cause if f is cancelled. Without other
// fibers it costs no switch, but after the turn's time budget the event loop has its turn.
func (f *Fiber) Yield() error {
	f.mustRun("Yield")
	f.waits++
	f.leave(f.loop.scheduler.Yield(f.loop.now()))
	return context.Cause(f.ctx)
}

// Sleep waits for d at least. It returns nil, or the cause as soon as f is cancelled. With d of zero or less it is
// [Fiber.Yield].
func Sleep(f *Fiber, d time.Duration) error {
	if d <= 0 {
		return f.Yield()
	}
	f.mustRun("Sleep")
	if f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	f.waitsFor = "a timer"
	now := time.Since(f.loop.epoch)
	// In nanoseconds, as a sum of milliseconds is rounded and ends one late; of the longest Duration it would be
	// negative.
	until := now + min(d, 1<<62)
	f.waits++
	f.leave(f.loop.scheduler.Sleep(milliseconds(until), milliseconds(now)))
	return f.woken()
}

// Cancel cancels f and its children: their contexts are done with the given cause, what they wait for ends with it, and
// those that have not started never do. The contexts are done at once; the waits end children before parents and among
// siblings the last started first, each when the one before is over. A nil cause means [context.Canceled]. The first
// cause counts; cancelling a fiber again or after its end does nothing. It returns at once, may be called from any
// goroutine, and does not wait for the fiber's end.
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
	return f.name + " (waits for " + f.waitsFor + ")"
}

// Deadline is that of the context of the fiber's loop.
func (f *Fiber) Deadline() (time.Time, bool) { return f.ctx.Deadline() }

// Done returns a channel that is closed when f is cancelled or over.
func (f *Fiber) Done() <-chan struct{} { return f.ctx.Done() }

// Err returns nil while f is neither cancelled nor over. It is the context's error; [context.Cause] tells the cause,
// and [Fiber.Wait] the error f ended with.
func (f *Fiber) Err() error { return f.ctx.Err() }

// Value is that of the context of the fiber's loop.
func (f *Fiber) Value(key any) any { return f.ctx.Value(key) }

// mustRun catches the mistake of letting another fiber wait in one's own place, which the scheduler would take for its
// own.
func (f *Fiber) mustRun(op string) {
	switch r := f.loop.running; r {
	case f:
	case nil:
		panic(fmt.Sprintf("asyncio: %s on behalf of fiber %s while no fiber runs: in place of a go statement start a "+
			"fiber by Fiber.Go, and let Block run only what blocks", op, f.name))
	default:
		panic(fmt.Sprintf("asyncio: %s on behalf of fiber %s while %s runs: a fiber waits for itself "+
			"only", op, f.name, r.name))
	}
}

// wait parks f until its wait is completed or, unless it is firm, cancelled.
func (f *Fiber) wait(what string) error {
	f.waitsFor = what
	f.waits++
	f.leave(f.loop.scheduler.Wait(f.loop.now()))
	return f.woken()
}

// waitOutside is wait for something that the loop cannot see.
func (f *Fiber) waitOutside(what string) error {
	f.loop.external++
	err := f.wait(what)
	f.loop.external--
	return err
}

func (f *Fiber) woken() error {
	// What comes for a cancelled fiber before its turn to end is too late, see scope.end: a timer must not jump the
	// queue.
	for !f.firm && !f.asked && f.ctx.Err() != nil {
		f.loop.external++ // whoever has cancelled it asks it
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

// leave obeys the scheduler's command: unless f itself runs next, control goes to the loop, which takes the command
// from there.
func (f *Fiber) leave(command Command) {
	if command == f.ref {
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
		if f.loop.stopping { // it may have recovered and returned
			recover()
			f.finish(errStopped)
			return
		}
		if !returned {
			v := recover()
			if v == nil { // Goexit: the loop goes down with this fiber, and ends the others
				f.finish(errGoexit)
				return
			}
			err = &PanicError{Fiber: f.name, Export: f.export, Value: v, Stack: append(debug.Stack(), f.panicked...)}
		}
		f.finish(f.endChildren(err))
		f.loop.command = f.loop.scheduler.Finish(false, f.loop.now())
	}()
	// It may have been cancelled when the scheduler had named it already.
	if err = context.Cause(f.ctx); err == nil {
		err = f.fn(f)
	}
	returned = true
}

// endChildren cancels the children that are left, waits for them, and returns the fiber's error with the failures that
// nobody has asked for.
func (f *Fiber) endChildren(err error) error {
	if f.children.first != nil {
		f.children.end(endOf(err), false)
		f.drain()
	}
	return join(err, f.children.takeFailures())
}

// drain waits until all children are over, also if f is cancelled: that ends the wait by ending the children.
func (f *Fiber) drain() {
	f.firm = true
	for f.children.first != nil {
		f.waitChildren()
	}
	f.firm = false
}

// interrupt ends what f waits for, or f itself if it has not started, but first its children, the last started first.
// Their contexts are done already.
func (f *Fiber) interrupt() {
	switch {
	case f.over:
	case f.children.first != nil:
		f.children.end(context.Cause(f.ctx), false) // childOver goes on when there are none left
	case f.next == nil && f.loop.scheduler.Drop(f.ref):
		f.finish(context.Cause(f.ctx))
	case f.waitsFor != "" && !f.firm:
		f.asked = true
		f.interrupted = waiter{f, f.waits}.wake() || f.interrupted
	}
}

// childOver is told that one of f's children is over.
func (f *Fiber) childOver(child *Fiber) {
	s := &f.children
	if f.watch != nil {
		f.watch(child)
	}
	s.endNext()
	switch {
	case s.first != nil:
		// A failure is told at once, but not to a fiber that is being ended: its turn comes after its children.
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

// finish records that f is over and tells all who want to know. For a fiber that ran it comes before the scheduler's
// Finish, so that a fiber that waited for it runs in the same turn.
func (f *Fiber) finish(err error) {
	f.over, f.err = true, err
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
