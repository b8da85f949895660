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
// without any, fn's error is returned unchanged. Cancelling a ends the arena with the given cause; cancelling f ends it
// with f's.
//
// [All] and [Race] are the arenas for the two usual cases.
func Arena(f *Fiber, name string, fn func(a *Fiber) error) error {
	f.mustRun("Arena")
	if f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	a := f.Go(name, fn)
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
// are attached as by [errors.Join]. Cancelling f cancels them all with f's cause; All then returns what their functions
// return.
func All[T any](f *Fiber, fns ...func(f *Fiber) (T, error)) ([]T, error) {
	values := make([]T, len(fns))
	err := Arena(f, f.name+".all", func(a *Fiber) error {
		var first *Fiber
		a.watch = func(member *Fiber) {
			if member.err != nil && first == nil {
				first, member.reported = member, true
				a.children.end(endOf(member.err), false)
			}
		}
		for i, fn := range fns {
			a.Go(a.member(i), func(m *Fiber) (err error) {
				values[i], err = fn(m)
				return err
			})
		}
		a.drain()
		if first != nil {
			return first.err // the other failures are attached later
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
// [errors.Join]; the value is still the winner's. (The loser's Err is accepted too.) Cancelling f cancels them all with
// f's cause; the first to finish wins then, too. Race panics without fns, because it would never end.
func Race[T any](f *Fiber, fns ...func(f *Fiber) (T, error)) (T, error) {
	if len(fns) == 0 {
		panic("asyncio: Race needs at least one function: without any it would never end")
	}
	values := make(map[*Fiber]T, len(fns))
	var winner *Fiber
	err := Arena(f, f.name+".race", func(a *Fiber) error {
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
