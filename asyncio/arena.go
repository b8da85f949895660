//go:build !tinygo

package asyncio

import (
	"context"
	"strconv"
)

// Arena runs fn as a fiber of its own. It returns fn's error once that fiber, and every fiber started in it, is over.
// No fiber of an arena outlives the call, however the arena ends. So a resource that a function opens before an arena
// and closes after it is open for as long as any fiber of the arena runs.
//
// fn starts fibers by calling [Fiber.Go] on a, the arena's own fiber, and waits for them as it likes. The arena ends
// when fn returns. Fibers that are still alive are then cancelled: the contexts of all at once, their waits one by one,
// children before parents and the last started first. Failures that fn has not asked for are attached to its error;
// without any, fn's error is returned unchanged. Cancelling a ends the arena with the given cause; cancelling its
// caller ends it with the caller's.
//
// ctx is the calling fiber or a context derived from it, and a's context descends from it: an arena of a context of
// [context.WithTimeout] ends at that time, with everything in it.
//
// [All] and [Race] are the arenas for the two usual cases.
func Arena(ctx context.Context, name string, fn func(a *Fiber) error) error {
	f := fiberOf(ctx, "Arena")
	if err := f.ended(ctx); err != nil {
		return err
	}
	a := f.child(ctx, name, fn)
	if ctx != context.Context(f) {
		stop := context.AfterFunc(ctx, func() {
			if f.ctx.Err() == nil { // else a's turn comes with f's
				a.Cancel(context.Cause(ctx))
			}
		})
		defer stop()
	}
	if !a.over {
		a.waiters = append(a.waiters, waiter{f, f.waits + 1})
		f.wait("arena " + name) // if f is cancelled, interrupt ends the arena first
	}
	a.reported = true
	return a.err
}

// All runs each of fns as a fiber. When all are over it returns their values, in the order of fns. Without fns it
// returns at once.
//
// When one fails, the others are cancelled as in [Arena]. Their cause wraps its error, and fibers that have not started
// never do. All then returns no values and the first error, unchanged. If others fail with errors of their own, those
// are attached as by [errors.Join]. When the calling fiber is cancelled, or ctx is done, all are cancelled with that
// cause; All then returns what their functions return.
func All[T any](ctx context.Context, fns ...func(f *Fiber) (T, error)) ([]T, error) {
	return AllLimit(ctx, max(1, len(fns)), fns...)
}

// AllLimit is [All] with at most limit of the fibers alive at once: the next one starts when one has returned. It
// panics if limit is less than 1, because none would start.
func AllLimit[T any](ctx context.Context, limit int, fns ...func(f *Fiber) (T, error)) ([]T, error) {
	if limit < 1 {
		panic("asyncio: AllLimit needs a limit of at least 1: no fiber would start")
	}
	values := make([]T, len(fns))
	err := Arena(ctx, fiberOf(ctx, "All").name+".all", func(a *Fiber) error {
		var first *Fiber
		next := 0
		start := func() {
			i := next
			next++
			a.Go(a.member(i), func(m *Fiber) (err error) {
				values[i], err = fns[i](m)
				return err
			})
		}
		a.watch = func(member *Fiber) {
			switch {
			case first != nil:
			case member.err != nil:
				first, member.reported = member, true
				a.children.end(endOf(member.err), false)
			case next < len(fns) && a.ctx.Err() == nil:
				start()
			}
		}
		for next < min(limit, len(fns)) {
			start()
		}
		a.drain()
		switch {
		case first != nil:
			return first.err // the other failures are attached later
		case next < len(fns): // cancelled before they were made
			return context.Cause(a.ctx)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

// Race runs each of fns as a fiber and returns the result of the first to finish, value or error, unchanged. The losers
// are cancelled one after another, in the order of fns, and what they return is dropped. Fibers that have not started
// never do. Race returns when all are over.
//
// A loser should return the error from its wait. Any other error, such as a panic, is attached to the winner's as by
// [errors.Join]; the value is still the winner's. (The loser's Err is accepted too.) When the calling fiber is
// cancelled, or ctx is done, all are cancelled with that cause; the first to finish wins then, too. Race panics without
// fns, because it would never end.
func Race[T any](ctx context.Context, fns ...func(f *Fiber) (T, error)) (T, error) {
	if len(fns) == 0 {
		panic("asyncio: Race needs at least one function: without any it would never end")
	}
	values := make(map[*Fiber]T, len(fns))
	var winner *Fiber
	err := Arena(ctx, fiberOf(ctx, "Race").name+".race", func(a *Fiber) error {
		a.watch = func(member *Fiber) {
			if winner == nil {
				winner, member.reported = member, true
				a.children.end(errLost, true)
			}
		}
		for i, fn := range fns {
			a.Go(a.member(i), func(m *Fiber) (err error) {
				values[m], err = fn(m)
				return err
			})
		}
		a.drain()
		return winner.err
	})
	return values[winner], err
}

func (f *Fiber) member(i int) string { return f.name + "[" + strconv.Itoa(i) + "]" }
