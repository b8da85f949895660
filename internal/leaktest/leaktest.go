// Package leaktest finds the goroutines that a test leaves behind.
package leaktest

import (
	"runtime"
	"testing"
)

// Goroutines fails the test if there are more goroutines at its end, after the cleanups registered later, than now. Do
// not use it in parallel tests.
func Goroutines(t testing.TB) {
	yieldToHost()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		// Goroutines may still be ending, those of closed connections for instance, so yield to them. Not for a
		// duration: time stands still in a testing/synctest bubble.
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
