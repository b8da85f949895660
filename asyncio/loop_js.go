//go:build !tinygo

package asyncio

import "syscall/js"

// When nothing is ready the loop's goroutine blocks in Go's own way. The Go runtime then returns to the event loop, so
// the page's events, the program's js.Func callbacks, its other goroutines and its timers go on. This needs neither
// JSPI nor a special wasm_exec.js. Why: RATIONALE.md, "Why do Go programs not wait in a suspending import?".

var (
	sleepers  []*Loop // the next call of microtask wakes these
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

// postFromJS is post for calls and completions that come from JavaScript. It wakes the loop in a microtask, not at
// once: otherwise an exported function would start to run inside the call that requests it, and each of several
// simultaneous completions would get a turn of its own.
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

// breathe gives control back to the event loop after a turn has used up its time. It returns in a later task, so the
// event loop can draw a frame or handle events meanwhile.
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

// listenForReturn adds or removes nextTask as a listener for a page's return from the back-forward cache. Firefox loses
// MessageChannel messages that it delivers to a page in that cache.
func listenForReturn(method string) {
	if js.Global().Get(method).Type() == js.TypeFunction {
		js.Global().Call(method, "pageshow", nextTask)
	}
}

// findQueueTask prefers functions without delay: nested calls of setTimeout come 4 ms late.
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
