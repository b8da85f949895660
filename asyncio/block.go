//go:build !tinygo

package asyncio

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/fiberfill/fiberfill/asyncio/internal/key"
)

// Block runs fn on a goroutine of its own and returns its results; other fibers run meanwhile. fn may block in any way
// Go knows. When the fiber is cancelled or ctx, which is the fiber or derives from it, is done, so is the context
// passed to fn. Block then returns the cause at once, and fn's results are dropped. The loop's Run returns only after
// fn has returned.
//
// A panic in fn becomes a panic in the fiber. fn must not wait as the fiber: the context that fn gets belongs to no
// fiber.
func Block[T any](ctx context.Context, fn func(ctx context.Context) (T, error)) (T, error) {
	return block(ctx, "Block", "a goroutine", fn)
}

func block[T any](ctx context.Context, op, what string, fn func(ctx context.Context) (T, error)) (T, error) {
	f := fiberOf(ctx, op)
	var none T
	if err := f.ended(ctx); err != nil {
		return none, err
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
		r.value, r.err = fn(context.WithValue(ctx, key.Fiber{}, nil)) // it does not run as the fiber
		r.returned = true
	})
	if err := f.waitOutside(ctx, what); err != nil {
		return none, err
	}
	switch {
	case r.panicked != nil:
		f.panicked = r.stack
		panic(r.panicked)
	case !r.returned:
		return none, errors.New("asyncio: the function given to Block called runtime.Goexit")
	}
	if r.err != nil {
		// fn may have seen that ctx is done, and have returned, before this fiber was told.
		if err := f.ended(ctx); err != nil {
			return none, err
		}
	}
	return r.value, r.err
}
