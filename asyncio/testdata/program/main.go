//go:build js

// Command program is what the tests of package asyncio run in Node: a program whose exported functions do one thing
// each.
package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"syscall/js"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
)

type fiberFunc = func(f *asyncio.Fiber, this js.Value, args []js.Value) (any, error)

func main() {
	goroutines := runtime.NumGoroutine()
	ctx, stop := context.WithCancelCause(context.Background())
	loop := asyncio.NewLoop(ctx)
	program := js.Global().Get("Object").New()
	for name, fn := range exports {
		program.Set(name, loop.FuncOf(name, fn))
	}
	plain := map[string]func(args []js.Value) any{
		"startLog": func([]js.Value) any { loop.StartLog(); return nil },
		"log": func([]js.Value) any {
			var lines []any
			for _, line := range loop.Log() {
				lines = append(lines, line)
			}
			return lines
		},
		// spawn starts a fiber that calls JavaScript, without an export in between.
		"spawn": func(args []js.Value) any {
			loop.Go(args[0].String(), func(*asyncio.Fiber) error { args[1].Invoke(); return nil })
			return nil
		},
		"free":    func([]js.Value) any { close(gate); return nil },
		"nothing": func([]js.Value) any { return nil },
		"stop":    func([]js.Value) any { stop(errors.New("stopped")); return nil },
	}
	for name, fn := range plain {
		program.Set(name, js.FuncOf(func(_ js.Value, args []js.Value) any { return fn(args) }))
	}
	js.Global().Set("program", program)
	err := loop.Serve()
	goroutines++ // the runtime's own, in which the call of stop still is
	left := runtime.NumGoroutine() - goroutines
	program.Set("ended", map[string]any{"error": fmt.Sprint(err), "goroutinesLeft": left})
}

// invoke calls the first argument with the others.
func invoke(args []js.Value) js.Value {
	var rest []any
	for _, arg := range args[1:] {
		rest = append(rest, arg)
	}
	return args[0].Invoke(rest...)
}

var gate = make(chan struct{})

var exports = map[string]fiberFunc{
	// stuck blocks the loop until free is called.
	"stuck": func(*asyncio.Fiber, js.Value, []js.Value) (any, error) {
		<-gate
		return nil, nil
	},
	// text fetches a URL. An AbortSignal may follow it.
	"text": func(f *asyncio.Fiber, _ js.Value, args []js.Value) (any, error) {
		if len(args) > 1 {
			f.CancelOn(args[1])
		}
		resp, err := asyncio.Fetch(f, args[0].String())
		if err != nil {
			return nil, err
		}
		return fmt.Sprint(resp.Status, " ", string(resp.Body)), nil
	},
	// call calls a function with the other arguments, waits for the Promise that it returns, and returns its value.
	"call": func(f *asyncio.Fiber, this js.Value, args []js.Value) (any, error) {
		return asyncio.Await(f, invoke(args))
	},
	// sum calls a function with 0, 1, ... until it returns null, waits each time, and returns the sum.
	"sum": func(f *asyncio.Fiber, _ js.Value, args []js.Value) (any, error) {
		sum := 0
		for i := 0; ; i++ {
			v, err := asyncio.Await(f, args[0].Invoke(i))
			if err != nil || v.IsNull() {
				return sum, err
			}
			sum += v.Int()
		}
	},
	// callUntil is call by a fiber that a signal cancels.
	"callUntil": func(f *asyncio.Fiber, _ js.Value, args []js.Value) (any, error) {
		f.CancelOn(args[0])
		return asyncio.Await(f, invoke(args[1:]))
	},
	// tooLate gives a signal to a fiber that is over.
	"tooLate": func(f *asyncio.Fiber, _ js.Value, args []js.Value) (any, error) {
		child := f.Go("child", func(*asyncio.Fiber) error { return nil })
		err := f.Wait(child)
		child.CancelOn(args[0])
		return nil, err
	},
	// callThenPanic is call with a panic in the end.
	"callThenPanic": func(f *asyncio.Fiber, _ js.Value, args []js.Value) (any, error) {
		v, _ := asyncio.Await(f, invoke(args))
		panic(v.String())
	},
	// given returns the fiber's name and the arguments.
	"given": func(f *asyncio.Fiber, _ js.Value, args []js.Value) (any, error) {
		all := []any{f.Name()}
		for _, arg := range args {
			all = append(all, arg)
		}
		return all, nil
	},
	// wrap is call with the error wrapped.
	"wrap": func(f *asyncio.Fiber, this js.Value, args []js.Value) (any, error) {
		_, err := asyncio.Await(f, args[0].Invoke())
		return nil, fmt.Errorf("wrapped: %w", err)
	},
	// message returns the message of the error with which the Promise is rejected.
	"message": func(f *asyncio.Fiber, this js.Value, args []js.Value) (any, error) {
		_, err := asyncio.Await(f, args[0].Invoke())
		return err.Error(), nil
	},
	"noop": func(*asyncio.Fiber, js.Value, []js.Value) (any, error) { return nil, nil },
	"fail": func(*asyncio.Fiber, js.Value, []js.Value) (any, error) { return nil, errors.New("it did not work") },
	// late waits longer than it may, cancelled when it has been: their errors have the platform's names.
	"late": func(f *asyncio.Fiber, _ js.Value, _ []js.Value) (any, error) {
		ctx, cancel := context.WithTimeout(f, time.Millisecond)
		defer cancel()
		return nil, asyncio.Sleep(ctx, time.Hour)
	},
	"cancelled": func(f *asyncio.Fiber, _ js.Value, _ []js.Value) (any, error) {
		f.Cancel(nil)
		return nil, asyncio.Sleep(f, time.Hour)
	},
	"panics": func(f *asyncio.Fiber, _ js.Value, _ []js.Value) (any, error) {
		f.Yield()
		panic("boom")
	},
	"unsupported": func(*asyncio.Fiber, js.Value, []js.Value) (any, error) { return struct{}{}, nil },
	// sleep waits for a timer of the scheduler, block blocks in Go's own way.
	"sleep": func(f *asyncio.Fiber, _ js.Value, args []js.Value) (any, error) {
		start := time.Now()
		err := asyncio.Sleep(f, time.Duration(args[0].Int())*time.Millisecond)
		return time.Since(start).Milliseconds(), err
	},
	"block": func(f *asyncio.Fiber, _ js.Value, args []js.Value) (any, error) {
		return asyncio.Block(f, func(context.Context) (string, error) {
			c := make(chan string)
			time.AfterFunc(time.Millisecond, func() { c <- "from a goroutine" })
			return <-c, nil
		})
	},
	// spin yields until a property of the object is true.
	"spin": func(f *asyncio.Fiber, _ js.Value, args []js.Value) (any, error) {
		n := 0
		for ; !args[0].Get("enough").Bool(); n++ {
			if err := f.Yield(); err != nil {
				return nil, err
			}
		}
		return n, nil
	},
	// yields has two fibers yield to each other n times in all, and returns the time of one yield in ns.
	"yields": func(f *asyncio.Fiber, _ js.Value, args []js.Value) (any, error) {
		n := args[0].Int()
		start := time.Now()
		for range 2 {
			f.Go("ring", func(f *asyncio.Fiber) error {
				for range n / 2 {
					f.Yield()
				}
				return nil
			})
		}
		err := f.WaitAll()
		return float64(time.Since(start).Nanoseconds()) / float64(n), err
	},
}
