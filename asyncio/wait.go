//go:build !tinygo

package asyncio

import "slices"

// waiter is one wait of one fiber.
type waiter struct {
	fiber *Fiber
	wait  uint32
}

// wake completes the wait and reports whether it was still open.
func (w waiter) wake() bool { return w.fiber.loop.scheduler.Notify(w.fiber.ref, w.wait) }

// gaveUp is called when a fiber stops waiting for f before f is over. Once more than half of the waiters have given up,
// they are removed: a long-lived fiber that others wait for with timeouts must not collect them.
func (f *Fiber) gaveUp() {
	if f.gone++; 2*f.gone > len(f.waiters) {
		f.waiters = slices.DeleteFunc(f.waiters, func(w waiter) bool {
			return w.fiber.waits != w.wait ||
				w.fiber.waitsFor == ""
		})
		f.gone = 0
	}
}
