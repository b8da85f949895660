//go:build !tinygo

package asyncio

import (
	"context"
	"errors"
	"syscall/js"
)

// Rejection is the error of a Promise that was rejected. JavaScript may reject with anything; Reason is that value
// itself. Returned from a function made by [Loop.FuncOf], on its own or wrapped, it rejects the caller's Promise with
// the same value.
type Rejection struct {
	Reason js.Value
}

// Error returns the reason as JavaScript prints it, for an Error with its cause.
func (r *Rejection) Error() (text string) {
	defer func() {
		if recover() != nil { // an object without toString, for instance
			text = "a value that JavaScript cannot print"
		}
	}()
	text = toString(r.Reason)
	if r.Reason.Type() == js.TypeObject {
		if cause := r.Reason.Get("cause"); cause.Type() == js.TypeObject {
			text += ": " + toString(cause)
		}
	}
	return text
}

func toString(v js.Value) string {
	return js.Global().Get("String").Invoke(v).String()
}

// As lets errors.As find a [js.Error].
func (r *Rejection) As(target any) bool {
	e, ok := target.(*js.Error)
	if ok {
		e.Value = r.Reason
	}
	return ok
}

// Await waits until promise is settled and returns what it was fulfilled with; if it is rejected, the error is a
// [*Rejection]. A value that is not a Promise is returned after one round of the event loop's microtasks, as by await.
// If f is cancelled Await returns the cause; whatever the promise stands for goes on.
//
// It exists in programs for JavaScript only.
func Await(f *Fiber, promise js.Value) (js.Value, error) {
	f.mustRun("Await")
	isPromise := promise.InstanceOf(promiseClass)
	if f.ctx.Err() != nil {
		if isPromise { // its rejection would be one that nobody handles, which ends Node
			promise.Call("then", js.Undefined(), ignore)
		}
		return js.Value{}, context.Cause(f.ctx)
	}
	if !isPromise {
		promise = promiseClass.Call("resolve", promise)
	}
	s := newSettlement(f)
	s.then(promise)
	if err := f.waitOutside("a Promise"); err != nil {
		s.abandon()
		return js.Value{}, err
	}
	v, err := s.value, s.err
	s.free()
	return v, err
}

var (
	promiseClass = js.Global().Get("Promise")
	ignore       = js.Global().Get("Function").Get("prototype") // is a function itself, which does nothing
)

// settlement is a pair of callbacks for a Promise's then, and what they were called with. Pairs are kept and used
// again, because making a js.Func costs more than everything else on the way of a completion.
type settlement struct {
	fulfilled, rejected js.Func

	chained   js.Value // the Promise that then returned
	fiber     *Fiber
	wait      uint32
	value     js.Value
	err       error
	settled   bool // a callback has come
	abandoned bool // the fiber was cancelled before: the callback that comes late frees the pair
}

var settlements []*settlement // free ones

func newSettlement(f *Fiber) *settlement {
	var s *settlement
	if n := len(settlements); n > 0 {
		s = settlements[n-1]
		settlements = settlements[:n-1]
	} else {
		s = new(settlement)
		s.fulfilled = js.FuncOf(func(_ js.Value, args []js.Value) any {
			s.settle(args[0], nil)
			return nil
		})
		s.rejected = js.FuncOf(func(_ js.Value, args []js.Value) any {
			s.settle(js.Undefined(), &Rejection{args[0]})
			return nil
		})
	}
	s.fiber, s.wait = f, f.waits+1
	return s
}

func (s *settlement) then(promise js.Value) {
	s.chained = promise.Call("then", s.fulfilled, s.rejected)
}

func (s *settlement) settle(v js.Value, err error) {
	if s.abandoned {
		s.free()
		return
	}
	s.value, s.err, s.settled = v, err, true
	s.fiber.loop.postFromJS(message{completeWait, s.fiber, s.wait})
}

// abandon is called when the fiber waits no longer.
func (s *settlement) abandon() {
	if s.settled {
		s.free()
	} else {
		s.abandoned = true
		// The program may have exited when the callback comes. Go's loader throws then, and nobody would handle that.
		s.chained.Call("then", js.Undefined(), ignore)
	}
}

// free is called when neither callback can be called any more.
func (s *settlement) free() {
	s.chained, s.fiber, s.value, s.err, s.settled, s.abandoned = js.Value{}, nil, js.Value{}, nil, false, false
	settlements = append(settlements, s)
}

// toJS returns the value that stands for err in JavaScript: the one that it came from, if there is one, else an Error
// with its message.
func toJS(err error) js.Value {
	var thrown js.Error
	if errors.As(err, &thrown) {
		return thrown.Value
	}
	return js.Global().Get("Error").New(err.Error())
}

// CancelOn cancels f when signal, an AbortSignal, is aborted, or at once if it is already. The cause is a [*Rejection]
// with the signal's reason, so that an exported function that returns it rejects with that very value, as fetch does.
// The signal is let go when f is over. CancelOn exists in programs for JavaScript only.
func (f *Fiber) CancelOn(signal js.Value) {
	cancel := func() { f.Cancel(&Rejection{signal.Get("reason")}) }
	switch {
	case f.over: // nobody would let go of the signal any more
		return
	case signal.Get("aborted").Bool():
		cancel()
		return
	}
	listener := js.FuncOf(func(js.Value, []js.Value) any { cancel(); return nil })
	signal.Call("addEventListener", "abort", listener)
	f.atEnd = append(f.atEnd, func() {
		signal.Call("removeEventListener", "abort", listener)
		listener.Release()
	})
}
