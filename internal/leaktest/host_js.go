package leaktest

import "syscall/js"

// yieldToHost gives control to the event loop once. That starts a goroutine of the Go runtime, which must be counted
// before the test.
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
