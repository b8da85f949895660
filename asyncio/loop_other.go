//go:build !tinygo && !js

package asyncio

import "runtime"

// schedule wakes the loop's goroutine, which is blocked.
func (l *Loop) schedule() { l.wake <- struct{}{} }

// breathe lets others run after a turn has used up its time.
func (l *Loop) breathe() { runtime.Gosched() }
