// Package leaktest finds the goroutines that a test leaves behind.
package leaktest

import (
	"runtime"
	"testing"
)

// Goroutines fails the test if at its end, after the cleanups that are registered later, there are more goroutines than
// now. Of no use to tests that run in parallel.
func Goroutines(t testing.TB) {
	yieldToHost()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		// One that is over may not have been taken off yet, and those of closed connections end on their own account,
		// so give them way: not for a time, which stands still in a bubble of testing/synctest.
		for range 10_000_000 {
			if runtime.NumGoroutine() <= before {
				return
			}
			runtime.Gosched()
		}
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines, before the test "+
			"%d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
	})
}
