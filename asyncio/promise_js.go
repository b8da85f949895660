//go:build !tinygo

package asyncio

import (
	"context"
	"errors"
	"syscall/js"
)

// Rejection is the error of a rejected Promise. Reason is the value that it was rejected with; JavaScript allows any. A
// function made by [Loop.FuncOf] that returns a Rejection, bare or wrapped, rejects its caller's Promise with the same
// value.
type Rejection struct {
	Reason js.Value
}

// Error returns the reason as JavaScript prints it. For an Error with a cause, the cause follows.
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

// Await waits until promise is settled. It returns the value that the promise was fulfilled with, or a [*Rejection] if
// it was rejected. A value that is not a Promise is returned after one round of microtasks, as by await. If the
// fiber is cancelled or ctx, which is the fiber or derives from it, is done, Await returns the cause; the operation
// behind the promise goes on.
//
// Await exists only in programs for JavaScript.
func Await(ctx context.Context, promise js.Value) (js.Value, error) {
	f := fiberOf(ctx, "Await")
	isPromise := promise.InstanceOf(promiseClass)
	if err := f.ended(ctx); err != nil {
		if isPromise { // so that its rejection is not an unhandled one, which would end Node
			promise.Call("then", js.Undefined(), ignore)
		}
		return js.Value{}, err
	}
	s := newSettlement(f)
	s.then(promise)
	if err := f.waitOutside(ctx, "a Promise"); err != nil {
		s.abandon()
		return js.Value{}, err
	}
	v, err := s.value, s.err
	s.free()
	return v, err
}

var (
	promiseClass = js.Global().Get("Promise")
	ignore       = js.Global().Get("Function").Get("prototype") // a function that does nothing
	// As await: whatever class the Promise is of, and whatever its then does, one callback is called, once.
	resolve = promiseClass.Get("resolve").Call("bind", promiseClass)
	then    = ignore.Get("call").Call("bind", promiseClass.Get("prototype").Get("then"))
)

// settlement is a pair of callbacks for a Promise's then, and the value that they were called with. Pairs are reused,
// because making a js.Func costs more than everything else in a completion.
type settlement struct {
	fulfilled, rejected js.Func

	chained   js.Value // the Promise that then returned
	fiber     *Fiber
	wait      uint32
	value     js.Value
	err       error
	settled   bool // a callback was called
	abandoned bool // the fiber was cancelled first: the late callback frees the pair
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
	s.chained = then.Invoke(resolve.Invoke(promise), s.fulfilled, s.rejected)
}

func (s *settlement) settle(v js.Value, err error) {
	if s.abandoned {
		s.free()
		return
	}
	s.value, s.err, s.settled = v, err, true
	s.fiber.loop.postFromJS(message{completeWait, s.fiber, s.wait})
}

// abandon is called when the fiber stops waiting before the Promise settles.
func (s *settlement) abandon() {
	if s.settled {
		s.free()
	} else {
		s.abandoned = true
		// If the program has exited when the callback comes, Go's loader throws, and the rejection would go unhandled.
		s.chained.Call("then", js.Undefined(), ignore)
	}
}

// free is called when neither callback can be called any more.
func (s *settlement) free() {
	s.chained, s.fiber, s.value, s.err, s.settled, s.abandoned = js.Value{}, nil, js.Value{}, nil, false, false
	settlements = append(settlements, s)
}

// toJS returns err as a JavaScript value: the value it came from, if any, else an Error with its message, which has the
// platform's name for a timeout or a cancellation. That of a panic has the Go frames in its stack.
func toJS(err error) js.Value {
	var thrown js.Error
	if errors.As(err, &thrown) {
		return thrown.Value
	}
	e := js.Global().Get("Error").New(err.Error())
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		e.Set("name", "TimeoutError")
	case errors.Is(err, context.Canceled):
		e.Set("name", "AbortError")
	}
	var panicked *PanicError
	if errors.As(err, &panicked) {
		e.Set("stack", "Error: "+err.Error()+"\n"+panicked.frames())
	}
	return e
}

// CancelOn cancels f when signal, an AbortSignal, is aborted; at once if it is aborted already. The cause is a
// [*Rejection] with the signal's reason: an exported function that returns the cause rejects with that same value, as
// fetch does. The listener is removed when f is over. CancelOn exists only in programs for JavaScript.
func (f *Fiber) CancelOn(signal js.Value) {
	cancel := func() { f.Cancel(&Rejection{signal.Get("reason")}) }
	switch {
	case f.over: // atEnd has run: nothing would remove the listener
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
