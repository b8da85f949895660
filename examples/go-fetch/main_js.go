package main

import (
	"context"
	"syscall/js"

	"github.com/fiberfill/fiberfill/asyncio"
)

// main sets the global object goFetch and serves it until its stop is called:
//
//	item(url, signal?)  Promise of the value; each call is a fiber, and the AbortSignal cancels it
//	log()               the scheduler's events since the first call of log, a line each
//	stop()              cancels all fibers and ends the program
func main() {
	ctx, stop := context.WithCancel(context.Background())
	loop := asyncio.NewLoop(ctx)

	exports := js.Global().Get("Object").New()
	exports.Set("item", loop.FuncOf("item", func(f *asyncio.Fiber, _ js.Value, args []js.Value) (any, error) {
		if len(args) > 1 && !args[1].IsUndefined() {
			f.CancelOn(args[1])
		}
		return item(f, args[0].String())
	}))
	logging := false
	exports.Set("log", js.FuncOf(func(js.Value, []js.Value) any {
		if !logging {
			logging = true
			loop.StartLog()
		}
		lines := js.Global().Get("Array").New()
		for _, line := range loop.Log() {
			lines.Call("push", line)
		}
		return lines
	}))
	exports.Set("stop", js.FuncOf(func(js.Value, []js.Value) any {
		stop()
		return nil
	}))
	js.Global().Set("goFetch", exports)

	loop.Serve() // ignore the error: it is the cause from stop
}
