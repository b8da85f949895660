//go:build !tinygo

package asyncio

import (
	"context"
	"errors"
	"runtime/debug"
)

// Block runs fn on a goroutine of its own and returns its results; other fibers run meanwhile. fn may block in any way
// Go knows. When f is cancelled, the context passed to fn is done, Block returns the cause at once, and fn's results
// are dropped. The loop's Run returns only after fn has returned.
//
// A panic in fn becomes a panic in f. fn must not use f, except as a context.
func Block[T any](f *Fiber, fn func(ctx context.Context) (T, error)) (T, error) {
	return block(f, "Block", "a goroutine", fn)
}

func block[T any](f *Fiber, op, what string, fn func(ctx context.Context) (T, error)) (T, error) {
	f.mustRun(op)
	var none T
	if f.ctx.Err() != nil {
		return none, context.Cause(f.ctx)
	}
	// On the heap, not in local variables: if f is cancelled, fn may still be running after this function has returned.
	r := new(struct {
		value    T
		err      error
		returned bool
		panicked any
		stack    []byte // at the panic
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
