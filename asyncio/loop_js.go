//go:build !tinygo

package asyncio

import "syscall/js"

// The loop's goroutine blocks in Go's own way when nothing is ready. The Go runtime then returns to the event loop, so
// that the page's events, the program's js.Func callbacks, its other goroutines and its timers go on. JSPI is not
// needed for that, nor another wasm_exec.js than Go's.
// Why: RATIONALE.md, "Why do Go programs not wait in a suspending import?".

var (
	sleepers  []*Loop // to be woken by the next call of microtask
	microtask = js.FuncOf(func(js.Value, []js.Value) any {
		loops := sleepers
		sleepers = nil
		for _, l := range loops {
			l.wake <- struct{}{}
		}
		return nil
	})
	queueMicrotask = js.Global().Get("queueMicrotask")
)

// postFromJS is post for calls and completions that come from JavaScript. It wakes the loop in a microtask. It is
// tempting to wake it at once; but then an exported function would begin to run inside the very call that only asks for
// it, and of several completions that arrive together each would get a turn of its own.
func (l *Loop) postFromJS(m message) {
	if !l.put(m) {
		return
	}
	sleepers = append(sleepers, l)
	if len(sleepers) == 1 {
		queueMicrotask.Invoke(microtask)
	}
}

var (
	breathing []chan struct{} // loops that wait for a task of the event loop
	nextTask  js.Func         // that task
	queueTask func()          // calls nextTask from the event loop's next round
)

// breathe gives control back to the event loop after a turn has used up its time, and returns when it has done other
// work: drawn a frame, handled an event.
func (l *Loop) breathe() {
	if queueTask == nil {
		nextTask = js.FuncOf(func(js.Value, []js.Value) any {
			waiting := breathing
			breathing = nil
			listenForReturn("removeEventListener")
			for _, c := range waiting {
				close(c)
			}
			return nil
		})
		queueTask = findQueueTask()
	}
	c := make(chan struct{})
	breathing = append(breathing, c)
	if len(breathing) == 1 {
		queueTask()
		listenForReturn("addEventListener")
	}
	<-c
}

// listenForReturn has nextTask called, or no longer called, when a page comes back out of the back-forward cache: what
// Firefox delivers to a page through a MessageChannel while it is there is lost.
func listenForReturn(method string) {
	if js.Global().Get(method).Type() == js.TypeFunction {
		js.Global().Call(method, "pageshow", nextTask)
	}
}

// findQueueTask prefers what is not delayed: nested calls of setTimeout come 4 ms late.
func findQueueTask() func() {
	if f := js.Global().Get("setImmediate"); f.Type() == js.TypeFunction {
		return func() { f.Invoke(nextTask) }
	}
	if c := js.Global().Get("MessageChannel"); c.Type() == js.TypeFunction {
		channel := c.New()
		channel.Get("port1").Set("onmessage", nextTask)
		port := channel.Get("port2")
		return func() { port.Call("postMessage", js.Null()) }
	}
	return func() { js.Global().Call("setTimeout", nextTask, 0) }
}
