//go:build !tinygo

package asyncio

import (
	"context"
	"strconv"
	"syscall/js"
)

// FuncOf returns a function for JavaScript that runs fn as a fiber of l. Each call starts one fiber and returns a
// Promise at once. The fiber is named after the function and the number of the call: "item#1", "item#2". fn may always
// wait, even if the call came from a callback or from another fiber.
//
// The Promise is fulfilled with fn's value, converted as by [js.ValueOf]. It is rejected if fn returns an error or
// panics. If the error's chain contains a [*Rejection] or a [js.Error], the reason is the original JavaScript value;
// otherwise it is an Error with the message, which for a panic names the fiber and the function; its stack then has the
// Go frames. Its name is TimeoutError or AbortError if the error wraps [context.DeadlineExceeded] or
// [context.Canceled]. The other fibers go on.
//
// The fibers run when the loop does, see [Loop.Serve]; earlier calls wait for it, until the loop's context is done. As
// with [js.FuncOf], call Release when JavaScript will not call the function again; calls under way are not affected.
// FuncOf exists only in programs for JavaScript.
func (l *Loop) FuncOf(name string, fn func(f *Fiber, this js.Value, args []js.Value) (any, error)) js.Func {
	calls := 0
	return js.FuncOf(func(this js.Value, args []js.Value) any {
		calls++
		promise, resolve, reject := newPromise()
		var value js.Value
		f := l.newFiber(l.ctx, nil, name+"#"+strconv.Itoa(calls), func(f *Fiber) error {
			v, err := fn(f, this, args)
			if err == nil {
				value = js.ValueOf(v) // panics, in the fiber, for a type without a JavaScript value
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
		if !l.runs() { // and perhaps never will
			context.AfterFunc(l.ctx, func() {
				if l.withdraw(f) {
					f.done(f.ended(l.ctx))
				}
			})
		}
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

// Node 20 and browsers from before 2024 lack Promise.withResolvers. There the constructor passes the functions to
// executor, which costs one more entry into Go.
var (
	withResolvers = promiseClass.Get("withResolvers")
	resolvers     [2]js.Value
	executor      = js.FuncOf(func(_ js.Value, args []js.Value) any {
		resolvers = [2]js.Value{args[0], args[1]}
		return nil
	})
)
