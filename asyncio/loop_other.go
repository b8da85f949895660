//go:build !tinygo && !js

package asyncio

import "runtime"

// A watch is for pages. Natively nobody can tell a fiber that blocks from one that computes.
type watch struct{}

func (watch) begin(*Loop) {}
func (watch) end()        {}

// breathe lets other goroutines run after a turn has used up its time.
func (l *Loop) breathe() { runtime.Gosched() }
