//go:build !tinygo

package asyncio

import (
	"context"
	"fmt"
	"slices"

	"github.com/fiberfill/fiberfill/asyncio/internal/key"
	"github.com/fiberfill/fiberfill/internal/queue"
)

// waiter is one wait of one fiber.
type waiter struct {
	fiber *Fiber
	wait  uint32
}

// wake completes the wait and reports whether it was still open. Nobody waits in a loop that is torn down: a fiber that
// will not run again must not be given anything.
func (w waiter) wake() bool {
	l := w.fiber.loop
	return !w.fiber.over && !l.stopping && l.scheduler.Notify(w.fiber.ref, w.wait)
}

// open reports whether the fiber still waits.
func (w waiter) open() bool { return w.fiber.waits == w.wait && w.fiber.waitsFor != "" }

// gaveUp is called when a fiber stops waiting for f before f is over. Once more than half of the waiters have given up,
// they are removed: a long-lived fiber that others wait for with timeouts must not collect them.
func (f *Fiber) gaveUp() {
	if f.gone++; 2*f.gone > len(f.waiters) {
		f.waiters = slices.DeleteFunc(f.waiters, func(w waiter) bool { return !w.open() })
		f.gone = 0
	}
}

// fiberOf returns the fiber of ctx, which must be the running one.
func fiberOf(ctx context.Context, op string) *Fiber {
	f, ok := ctx.(*Fiber)
	if !ok {
		if f, ok = ctx.Value(key.Fiber{}).(*Fiber); !ok {
			panic(fmt.Sprintf("asyncio: %s was called with a context of no fiber: pass the *Fiber that the function "+
				"got, or a context derived from it; in a function given to Block, call it after Block", op))
		}
	}
	f.mustRun(op)
	return f
}

// ended returns the cause if f is cancelled or ctx, a context of f's, is done; else nil.
func (f *Fiber) ended(ctx context.Context) error {
	if f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// within calls wait, a wait of f, which then also ends when ctx, a context of f, is done.
func (f *Fiber) within(ctx context.Context, wait func() error) error {
	if done := ctx.Done(); done == nil || done == f.Done() {
		return wait()
	}
	number := f.waits + 1
	stop := context.AfterFunc(ctx, func() { f.loop.post(message{expireWait, f, number}) })
	f.loop.external++ // somebody outside may end ctx
	err := wait()
	f.loop.external--
	stop()
	if err == nil && f.expired {
		err = context.Cause(ctx)
	}
	f.expired = false
	return err
}

// place is one fiber's place in a line. value and open hold what is handed over to it.
type place[T any] struct {
	waiter
	handed bool
	value  T
	open   bool
}

// line holds fibers of one loop that wait for their turn, in order.
type line[T any] struct {
	loop   *Loop // of its first user
	places queue.Queue[*place[T]]
	gone   int // how many of places have given up
}

// use checks that all users are fibers of one loop: others would run concurrently.
func (l *line[T]) use(f *Fiber, op string) {
	if l.loop == nil {
		l.loop = f.loop
	}
	if l.loop != f.loop {
		panic("asyncio: " + op + ": it belongs to fibers of another loop, which run concurrently")
	}
}

// wait waits until hand has reached p. An error means that it has not, and will not.
func (l *line[T]) wait(ctx context.Context, f *Fiber, what string, p *place[T]) error {
	p.waiter = waiter{f, f.waits + 1}
	l.places.Push(p)
	f.lined = true
	defer func() { f.lined = false }()
	err := f.within(ctx, func() error { return f.wait(what) })
	if p.handed { // though f may have been cancelled before it ran: what was handed over must not be lost
		return nil
	}
	if l.gone++; 2*l.gone > l.places.Len() {
		for range l.places.Len() {
			if p := l.places.Pop(); p.waiter.open() {
				l.places.Push(p)
			}
		}
		l.gone = 0
	}
	return err
}

// hand ends the wait of the first fiber that still waits, and returns its place; nil if none waits.
func (l *line[T]) hand() *place[T] {
	for l.places.Len() > 0 {
		if p := l.places.Pop(); p.wake() {
			p.handed = true
			return p
		}
		l.gone = max(0, l.gone-1)
	}
	return nil
}
