//go:build !tinygo

package asyncio

import (
	"context"
	"errors"
	"runtime/debug"
)

// Block runs fn, which may block in any way Go knows, on a goroutine of its own and waits for its results; the other
// fibers run meanwhile. The context that fn gets is done when f is cancelled; then Block returns the cause at once and
// fn's results are dropped. The loop's Run returns only after fn has.
//
// A panic of fn happens in f. fn must not use f, except as a context.
func Block[T any](f *Fiber, fn func(ctx context.Context) (T, error)) (T, error) {
	return block(f, "Block", "a goroutine", fn)
}

func block[T any](f *Fiber, op, what string, fn func(ctx context.Context) (T, error)) (T, error) {
	f.mustRun(op)
	var none T
	if f.ctx.Err() != nil {
		return none, context.Cause(f.ctx)
	}
	// On the heap and not in variables of this function: fn may still be at work when f, cancelled, is gone from here.
	r := new(struct {
		value    T
		err      error
		returned bool
		panicked any
		stack    []byte // where
	})
	wait := f.waits + 1
	f.loop.workers.Go(func() {
		defer f.loop.post(message{completeWait, f, wait})
		defer func() {
			if !r.returned {
				r.panicked, r.stack = recover(), debug.Stack()
			}
		}()
		r.value, r.err = fn(f.ctx)
		r.returned = true
	})
	if err := f.waitOutside(what); err != nil {
		return none, err
	}
	switch {
	case r.panicked != nil:
		f.panicked = r.stack
		panic(r.panicked)
	case !r.returned:
		return none, errors.New("asyncio: the function given to Block called runtime.Goexit")
	}
	return r.value, r.err
}
