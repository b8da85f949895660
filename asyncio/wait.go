//go:build !tinygo

package asyncio

import "slices"

// waiter is a wait of a fiber.
type waiter struct {
	fiber *Fiber
	wait  uint32
}

// wake completes the wait, if it is still open, and reports whether it was.
func (w waiter) wake() bool { return w.fiber.loop.scheduler.Notify(w.fiber.ref, w.wait) }

// gaveUp is told that a fiber which waited for f does so no longer. They are forgotten when they are half of all: what
// lives for long, and is waited for with a timeout again and again, must not keep them.
func (f *Fiber) gaveUp() {
	if f.gone++; 2*f.gone > len(f.waiters) {
		f.waiters = slices.DeleteFunc(f.waiters, func(w waiter) bool {
			return w.fiber.waits != w.wait ||
				w.fiber.waitsFor == ""
		})
		f.gone = 0
	}
}
