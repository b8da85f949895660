//go:build !tinygo

package asyncio_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/leaktest"
)

func TestBlock_lets_the_others_run(t *testing.T) {
	leaktest.Goroutines(t)
	c := make(chan int)
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		f.Go("sender", func(f *asyncio.Fiber) error {
			c <- 42 // the receiver is ready, so this blocks only briefly
			return nil
		})
		n, err := asyncio.Block(f, func(context.Context) (int, error) { return <-c, nil })
		if n != 42 {
			t.Errorf("Block() = %d, want 42", n)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Completions that arrive while a fiber runs wait in the inbox. The current turn takes each of them once, in the order
// of arrival.
func TestJ_MUX_6_completions_while_a_fiber_runs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := asyncio.NewLoop(t.Context())
		l.StartLog()
		var gates [2]chan struct{}
		for i, name := range []string{"a", "b"} {
			gates[i] = make(chan struct{})
			l.Go(name, func(f *asyncio.Fiber) error {
				_, err := asyncio.Block(f, func(context.Context) (int, error) { <-gates[i]; return 0, nil })
				return err
			})
		}
		l.Go("c", func(f *asyncio.Fiber) error {
			close(gates[1])
			synctest.Wait() // b's goroutine has posted and ended
			close(gates[0])
			synctest.Wait()
			return nil
		})
		if err := l.Run(); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(l.Log()[9:], ", ")
		want := "finished c, paused, notified b, notified a, entered, resumed b, finished b, resumed a, finished a, " +
			"completed"
		if l.Log()[8] != "resumed c" || got != want {
			t.Errorf("log %v\nwant it to end with %s", l.Log(), want)
		}
	})
}

// A completion that comes after the cancellation is dropped: it must not end the fiber's next wait.
func TestJ_MUX_7_late_completion_is_dropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		late := false
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			child := f.Go("child", func(f *asyncio.Fiber) error {
				_, err := asyncio.Block(f, func(context.Context) (int, error) { <-gate; late = true; return 1, nil })
				return err
			})
			f.Yield()
			child.Cancel(errors.New("enough"))
			if err := f.Wait(child); err == nil || err.Error() != "enough" {
				t.Errorf("Wait() = %v", err)
			}
			start := time.Now()
			other := f.Go("other", func(f *asyncio.Fiber) error { // reuses the child's slot
				close(gate)
				return asyncio.Sleep(f, time.Second)
			})
			err := f.Wait(other)
			if d := time.Since(start); d != time.Second {
				t.Errorf("the sleep took %v, want 1s", d)
			}
			return err
		})
		if err != nil || !late {
			t.Errorf("Run() = %v; it returned after the function: %v", err, late)
		}
	})
}

// The function may know that ctx is done, and return, before the fiber is told. Block returns the cause all the same.
func TestBlock_returns_the_cause_if_the_function_is_first(t *testing.T) {
	leaktest.Goroutines(t)
	reason := errors.New("no longer wanted")
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		for range 200 {
			ctx, cancel := context.WithCancelCause(f)
			_, err := asyncio.Block(ctx, func(context.Context) (int, error) {
				cancel(reason)
				return 0, errors.New("the function's own error")
			})
			if err != reason {
				t.Fatalf("Block() = %v, want the cause", err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestBlock_panic_and_Goexit_happen_in_the_fiber(t *testing.T) {
	leaktest.Goroutines(t)
	l := asyncio.NewLoop(t.Context())
	l.Go("f", func(f *asyncio.Fiber) error {
		_, err := asyncio.Block(f, func(context.Context) (int, error) { panic("boom") })
		return err
	})
	l.Go("g", func(f *asyncio.Fiber) error {
		_, err := asyncio.Block(f, func(context.Context) (int, error) { runtime.Goexit(); return 0, nil })
		return err
	})
	err := l.Run()
	for _, want := range []string{"asyncio: fiber f panicked: boom", "called runtime.Goexit"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Run() = %v, want %s in it", err, want)
		}
	}
}

func TestBlock_panic_tells_the_place_and_what_the_fiber_did(t *testing.T) {
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		_, err := asyncio.Block(f, thatPanics)
		return err
	})
	var p *asyncio.PanicError
	if !errors.As(err, &p) {
		t.Fatalf("Run() = %v, want a PanicError", err)
	}
	for _, want := range []string{"asyncio_test.thatPanics(",
		"asyncio_test.TestBlock_panic_tells_the_place_and_what_the_fiber_did.func1("} {
		if !strings.Contains(string(p.Stack), want) {
			t.Errorf("%s is not in\n%s", want, p.Stack)
		}
	}
}

func thatPanics(context.Context) (int, error) { panic("boom") }
