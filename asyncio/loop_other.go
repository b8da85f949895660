//go:build !tinygo && !js

package asyncio

import "runtime"

// breathe lets other goroutines run after a turn has used up its time.
func (l *Loop) breathe() { runtime.Gosched() }
