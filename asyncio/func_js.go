//go:build !tinygo

package asyncio

import (
	"strconv"
	"syscall/js"
)

// FuncOf returns a function for JavaScript that runs fn as a fiber of l. Each call returns a Promise at once and starts
// one fiber, named after the function and the number of the call: "item#1", "item#2". fn may wait, also when the call
// came from a callback, from another fiber, or while other fibers wait.
//
// The Promise is fulfilled with fn's value, converted as by [js.ValueOf]. It is rejected if fn returns an error or
// panics: with the original JavaScript value if there is one in the error's chain, a [*Rejection] or a [js.Error], and
// otherwise with an Error that has the message; for a panic it names the fiber and the function. The other fibers go
// on.
//
// Somebody has to run the loop, see [Loop.Serve]; a call that comes earlier waits for it. As with [js.FuncOf], Release
// frees the function when it will not be called any more; calls under way are not concerned. FuncOf exists in programs
// for JavaScript only.
func (l *Loop) FuncOf(name string, fn func(f *Fiber, this js.Value, args []js.Value) (any, error)) js.Func {
	calls := 0
	return js.FuncOf(func(this js.Value, args []js.Value) any {
		calls++
		promise, resolve, reject := newPromise()
		var value js.Value
		f := l.newFiber(nil, name+"#"+strconv.Itoa(calls), func(f *Fiber) error {
			v, err := fn(f, this, args)
			if err == nil {
				value = js.ValueOf(v) // panics for a type that JavaScript has no value for: in the fiber
			}
			return err
		})
		f.export = name
		f.done = func(err error) {
			if err == nil {
				resolve.Invoke(value)
			} else {
				reject.Invoke(toJS(err))
			}
		}
		l.postFromJS(message{spawnFiber, f, 0})
		return promise
	})
}

// newPromise makes a Promise and the functions that settle it.
func newPromise() (promise, resolve, reject js.Value) {
	if withResolvers.Type() == js.TypeFunction {
		p := promiseClass.Call("withResolvers")
		return p.Get("promise"), p.Get("resolve"), p.Get("reject")
	}
	promise = promiseClass.New(executor)
	resolve, reject = resolvers[0], resolvers[1]
	resolvers = [2]js.Value{}
	return promise, resolve, reject
}

// Node 20 and browsers of before 2024 have no Promise.withResolvers. There the constructor hands the functions to
// executor, which costs one more entry into Go.
var (
	withResolvers = promiseClass.Get("withResolvers")
	resolvers     [2]js.Value
	executor      = js.FuncOf(func(_ js.Value, args []js.Value) any {
		resolvers = [2]js.Value{args[0], args[1]}
		return nil
	})
)
