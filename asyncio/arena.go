//go:build !tinygo

package asyncio

import (
	"context"
	"strconv"
)

// Arena runs fn as a fiber of its own and returns fn's error when that fiber and all that was started in it are over.
// So nothing of an arena outlives the call: what a function opens before an arena and closes after it is open as long
// as any fiber of the arena runs, whichever way the arena ends.
//
// fn starts the arena's fibers by [Fiber.Go] on a, the arena's own fiber, waits for them as it likes, and ends the
// arena by returning: fibers that are not over then are cancelled, the last started first, each when the one before is
// over, all of them after their own children. (The contexts of all are done at once.) A failure that fn has not asked
// for is attached to the error, which is fn's own, unchanged, if there is none. Cancelling a ends the arena with the
// given cause; cancelling f ends it with f's.
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
		f.wait("arena " + name) // if f is cancelled the arena is ended first, see interrupt
	}
	a.reported = true
	return a.err
}

// All runs each of fns as a fiber and returns their values, in the order of fns, when all are over. Without fns it
// returns at once.
//
// When one fails the others are cancelled as in [Arena], with a cause that has its error in the chain, and those that
// have not started never do. All then returns no values and the first error, unchanged; if others failed in their own
// ways, those are attached behind it as by [errors.Join]. If f is cancelled so are all of them, with its cause, and All
// returns what they make of that.
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
			return first.err // what the others failed with comes behind it
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

// Race runs each of fns as a fiber and returns what the first of them that is over has returned, value or error,
// unchanged. The others are cancelled in the order of fns, each when the one before is over; those that have not
// started never do, and what the others return then is dropped. It returns when all are over.
//
// An error that one of the others ends with and that is neither the cause it was cancelled with nor what its Err
// returns then, a panic for instance, is attached to the winner's as by [errors.Join]; the value is the winner's even
// then. So who loses has to return what its wait has returned. If f is cancelled so are all of them, with its cause;
// the first to be over wins then, too. Race panics without fns: it would never end.
func Race[T any](f *Fiber, fns ...func(f *Fiber) (T, error)) (T, error) {
	if len(fns) == 0 {
		panic("asyncio: Race of nobody: there will never be a first one")
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
