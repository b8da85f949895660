package leaktest

import "syscall/js"

// yieldToHost gives the event loop control once: from then on there is a goroutine of Go's own, which counts.
func yieldToHost() {
	called := make(chan struct{})
	call := js.FuncOf(func(js.Value, []js.Value) any {
		close(called)
		return nil
	})
	defer call.Release()
	js.Global().Call("setTimeout", call)
	<-called
}
