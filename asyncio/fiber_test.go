//go:build !tinygo

package asyncio_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/leaktest"
)

func TestRun_returns_the_error_unchanged(t *testing.T) {
	leaktest.Goroutines(t)
	want := errors.New("mine")
	if err := asyncio.Run(t.Context(), func(*asyncio.Fiber) error { return want }); err != want {
		t.Errorf("Run() = %v, want %v", err, want)
	}
}

func TestFibers_start_in_order_and_yield_fairly(t *testing.T) {
	leaktest.Goroutines(t)
	l := asyncio.NewLoop(t.Context())
	var got []string
	for i := range 3 {
		l.Go(fmt.Sprint(i), func(f *asyncio.Fiber) error {
			for range 3 {
				got = append(got, f.Name())
				f.Yield()
			}
			return nil
		})
	}
	if err := l.Run(); err != nil {
		t.Fatal(err)
	}
	if s := strings.Join(got, ""); s != "012012012" {
		t.Errorf("ran %s, want 012012012", s)
	}
}

func TestCancel_before_start_never_runs_it(t *testing.T) {
	leaktest.Goroutines(t)
	l := asyncio.NewLoop(t.Context())
	l.StartLog()
	f := l.Go("f", func(*asyncio.Fiber) error { t.Error("it ran"); return nil })
	f.Cancel(nil)
	if err := l.Run(); err != nil {
		t.Error(err)
	}
	if got, want := strings.Join(l.Log(), ", "), "spawned f, dropped f, entered, completed"; got != want {
		t.Errorf("log %s, want %s", got, want)
	}
}

type keyType struct{}

// A GUI program runs its loop like this. Go's runtime would end the program if a coroutine were made on another thread.
func TestRun_on_a_goroutine_that_is_locked_to_its_thread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		for range 10 {
			f.Go("child", func(f *asyncio.Fiber) error {
				_, err := asyncio.Block(f, func(context.Context) (int, error) { return 0, nil })
				return errors.Join(err, asyncio.Sleep(f, time.Microsecond))
			})
		}
		return f.WaitAll()
	})
	if err != nil {
		t.Error(err)
	}
}

func TestContext_of_the_loop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), keyType{}, 7), time.Second)
		defer cancel()
		err := asyncio.Run(ctx, func(f *asyncio.Fiber) error {
			at, ok := f.Deadline()
			if want, _ := ctx.Deadline(); !ok || !at.Equal(want) || f.Value(keyType{}) != 7 {
				t.Errorf("Deadline() = %v, %v; Value() = %v", at, ok, f.Value(keyType{}))
			}
			return asyncio.Sleep(f, time.Hour)
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run() = %v, want %v", err, context.DeadlineExceeded)
		}
	})
}

func TestPanic_goes_to_the_waiting_fiber_and_others_go_on(t *testing.T) {
	leaktest.Goroutines(t)
	value := errors.New("boom")
	finished := false
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		bad := f.Go("bad", func(f *asyncio.Fiber) error { f.Yield(); panic(value) })
		f.Go("good", func(f *asyncio.Fiber) error {
			for range 10 {
				f.Yield()
			}
			finished = true
			return nil
		})
		err := f.Wait(bad)
		var p *asyncio.PanicError
		if !errors.As(err, &p) || p.Fiber != "bad" || !errors.Is(err, value) ||
			!strings.Contains(string(p.Stack), "TestPanic") {
			t.Errorf("Wait() = %v", err)
		}
		if f.Wait(bad) != err {
			t.Error("a second Wait returned something else")
		}
		return f.WaitAll()
	})
	if err != nil || !finished {
		t.Errorf("Run() = %v, the other fiber finished: %v", err, finished)
	}
}

func TestPanic_that_nobody_waits_for_is_returned_by_Run(t *testing.T) {
	l := asyncio.NewLoop(t.Context())
	l.Go("bad", func(*asyncio.Fiber) error { panic("boom") })
	good := false
	l.Go("good", func(*asyncio.Fiber) error { good = true; return nil })
	err := l.Run()
	if err == nil || err.Error() != "asyncio: fiber bad panicked: boom" || !good {
		t.Errorf("Run() = %v, the other fiber ran: %v", err, good)
	}
	if err := l.Run(); err != nil {
		t.Errorf("the next Run() = %v, want the failure reported only once", err)
	}
}

func TestWaitAll_returns_each_failure_once(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	var got []error
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		f.Go("a", func(*asyncio.Fiber) error { return a })
		f.Go("ok", func(f *asyncio.Fiber) error { return f.Yield() })
		f.Go("b", func(f *asyncio.Fiber) error { f.Yield(); return b })
		for range 3 {
			got = append(got, f.WaitAll())
		}
		return nil
	})
	if err != nil || !slices.Equal(got, []error{a, b, nil}) {
		t.Errorf("WaitAll() = %v, Run() = %v", got, err)
	}
}

func TestChildren_do_not_outlive_their_parent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		childOver, grandchildOver := false, false
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			parent := f.Go("parent", func(f *asyncio.Fiber) error {
				f.Go("child", func(f *asyncio.Fiber) error {
					f.Go("grandchild", func(f *asyncio.Fiber) error {
						defer func() { grandchildOver = true }()
						return asyncio.Sleep(f, time.Hour)
					})
					defer func() { childOver = true }()
					return asyncio.Sleep(f, time.Hour)
				})
				return asyncio.Sleep(f, time.Second)
			})
			err := f.Wait(parent)
			if !childOver || !grandchildOver {
				t.Error("the parent was over before its children")
			}
			return err
		})
		if d := time.Since(start); err != nil || d != time.Second {
			t.Errorf("Run() = %v after %v, want nil after 1s", err, d)
		}
	})
}

func TestFailure_not_asked_for_becomes_the_parents(t *testing.T) {
	lost := errors.New("lost")
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		f.Go("child", func(*asyncio.Fiber) error { return lost })
		return f.Yield()
	})
	if err != lost {
		t.Errorf("Run() = %v, want %v", err, lost)
	}
}

func TestJ_MUX_10_deadlock_is_reported(t *testing.T) {
	leaktest.Goroutines(t)
	l := asyncio.NewLoop(t.Context())
	var a, b *asyncio.Fiber
	a = l.Go("a", func(f *asyncio.Fiber) error { return f.Wait(b) })
	b = l.Go("b", func(f *asyncio.Fiber) error { return f.Wait(a) })
	err := l.Run()
	var d *asyncio.DeadlockError
	if !errors.As(err, &d) || !slices.Equal(d.Fibers, []string{"a (waits for fiber b)", "b (waits for fiber a)"}) {
		t.Errorf("Run() = %v, want a deadlock of a and b", err)
	}
}

// A cycle is reported only once nothing else is outstanding in its loop.
func TestJ_MUX_10_deadlock_is_reported_when_the_others_are_over(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := asyncio.NewLoop(t.Context())
		var told time.Duration
		start := time.Now()
		l.Go("a", func(f *asyncio.Fiber) error {
			err := f.Wait(f)
			told = time.Since(start)
			return err
		})
		l.Go("b", func(f *asyncio.Fiber) error { return asyncio.Sleep(f, time.Second) })
		err := l.Run()
		var d *asyncio.DeadlockError
		if !errors.As(err, &d) || told != time.Second {
			t.Errorf("Run() = %v after %v, want a deadlock after 1s", err, told)
		}
	})
}

// A child that waits for a parent in WaitAll closes a cycle, too.
func TestJ_MUX_10_deadlock_through_WaitAll(t *testing.T) {
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		f.Go("child", func(c *asyncio.Fiber) error { return c.Wait(f) })
		return f.WaitAll()
	})
	var d *asyncio.DeadlockError
	if !errors.As(err, &d) {
		t.Errorf("Run() = %v, want a deadlock", err)
	}
}

func TestServe_ends_with_its_context(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("closing time")
		ctx, cancel := context.WithCancelCause(t.Context())
		l := asyncio.NewLoop(ctx)
		served := 0
		go func() {
			for range 3 {
				synctest.Wait() // the loop is blocked
				l.Go("call", func(*asyncio.Fiber) error { served++; return nil })
			}
			l.Go("stays", func(f *asyncio.Fiber) error { return asyncio.Sleep(f, time.Hour) })
			synctest.Wait()
			cancel(cause)
		}()
		if err := l.Serve(); err != cause && !errors.Is(err, cause) || served != 3 {
			t.Errorf("Serve() = %v after %d calls", err, served)
		}
	})
}

func TestEndAll_ends_the_children_and_returns_their_failures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended []string
		failure := errors.New("failure")
		sleeps := func(f *asyncio.Fiber) error {
			err := asyncio.Sleep(f, time.Hour)
			ended = append(ended, f.Name())
			return err
		}
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			f.Go("a", sleeps)
			f.Go("b", sleeps)
			f.Go("c", func(*asyncio.Fiber) error { return failure })
			if err := f.Yield(); err != nil {
				return err
			}
			if err := f.EndAll(); !errors.Is(err, failure) {
				t.Errorf("EndAll() = %v, want %v", err, failure)
			}
			if got := strings.Join(ended, " "); got != "b a" {
				t.Errorf("ended: %s, want b a", got)
			}
			if err := f.EndAll(); err != nil {
				t.Errorf("without children: %v", err)
			}
			f.Go("d", sleeps)
			f.Go("e", func(*asyncio.Fiber) error { return nil }) // the end of one child is not that of another
			return f.WaitAll()
		})
		if got := strings.Join(ended, " "); err != nil || got != "b a d" {
			t.Errorf("%v, ended: %s", err, got)
		}
	})
}

func TestGoexit_ends_the_caller_and_all_fibers(t *testing.T) {
	leaktest.Goroutines(t)
	cleaned, afterRun := 0, false
	done := make(chan struct{})
	go func() {
		defer close(done)
		l := asyncio.NewLoop(context.Background())
		for range 2 {
			l.Go("waits", func(f *asyncio.Fiber) error {
				defer func() { cleaned++ }()
				return asyncio.Sleep(f, time.Hour)
			})
		}
		l.Go("exits", func(*asyncio.Fiber) error { runtime.Goexit(); return nil })
		l.Go("never", func(*asyncio.Fiber) error { t.Error("it ran"); return nil })
		l.Run()
		afterRun = true
	}()
	<-done
	if cleaned != 2 || afterRun {
		t.Errorf("%d fibers cleaned up, want 2; Run returned: %v, want false", cleaned, afterRun)
	}
}

// A server's handlers must not wait for a loop that one of them has ended, nor be refused by the next.
func TestGoexit_leaves_a_loop_that_runs_again(t *testing.T) {
	leaktest.Goroutines(t)
	l := asyncio.NewLoop(t.Context())
	places := asyncio.NewSemaphore(1)
	l.StartLog()
	for range 2 { // the second one waits for its place, and leaves its wait behind
		l.Go("waits", func(f *asyncio.Fiber) error {
			if err := places.Acquire(f); err != nil {
				return err
			}
			defer places.Release()
			return asyncio.Sleep(f, time.Hour)
		})
	}
	l.Go("exits", func(*asyncio.Fiber) error { runtime.Goexit(); return nil })
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Run()
	}()
	<-done
	handled := make(chan error, 1)
	go func() {
		handled <- l.Do(t.Context(), "handler", func(f *asyncio.Fiber) error {
			if err := places.Acquire(f); err != nil {
				return err
			}
			child := f.Go("child", func(f *asyncio.Fiber) error { return asyncio.Sleep(f, time.Millisecond) })
			places.Release()
			return f.Wait(child)
		})
	}()
	var err error
	for served := false; !served; { // Do may come late, and Run returns when there are no fibers
		err = l.Run()
		select {
		case handlerErr := <-handled:
			err, served = errors.Join(err, handlerErr), true
		default:
			runtime.Gosched()
		}
	}
	if log := strings.Join(l.Log(), "\n"); err != nil || !strings.HasPrefix(log, "spawned handler\n") {
		t.Errorf("the second Run: %v, want nil; its log:\n%s", err, log)
	}
}

// Code that recovers from every panic, as servers do around each call, must not hold up the other fibers.
func TestGoexit_ends_fibers_that_recover_from_everything(t *testing.T) {
	leaktest.Goroutines(t)
	var cleaned []string
	var panicked any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		asyncio.Run(context.Background(), func(f *asyncio.Fiber) error {
			f.Go("parent", func(f *asyncio.Fiber) error {
				defer func() { recover(); cleaned = append(cleaned, "parent") }()
				f.Go("child", func(f *asyncio.Fiber) error {
					defer func() { cleaned = append(cleaned, "child") }()
					return asyncio.Sleep(f, time.Hour)
				})
				return f.WaitAll()
			})
			f.Go("worker", func(f *asyncio.Fiber) error {
				for f.Err() == nil {
					func() {
						defer func() { recover() }()
						asyncio.Sleep(f, time.Hour)
					}()
				}
				cleaned = append(cleaned, "worker")
				return nil
			})
			asyncio.Sleep(f, time.Millisecond)
			runtime.Goexit()
			return nil
		})
	}()
	<-done
	slices.Sort(cleaned)
	if got := strings.Join(cleaned, " "); panicked != nil || got != "child parent worker" {
		t.Errorf("cleaned up: %s, and Run panicked with %v; want all three, and no panic", got, panicked)
	}
}

func TestMisuse_panics_with_the_reason(t *testing.T) {
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		f.Go("child", func(*asyncio.Fiber) error { return f.Yield() })
		return f.WaitAll()
	})
	if want := "asyncio: Yield was called for fiber main while fiber child runs"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("Run() = %v, want %s", err, want)
	}
	l := asyncio.NewLoop(t.Context())
	l.Go("again", func(*asyncio.Fiber) error { return l.Run() })
	if err := l.Run(); err == nil || !strings.Contains(err.Error(), "while the loop is running") {
		t.Errorf("Run() = %v, want a refusal of the inner Run", err)
	}
}

func TestA_wait_for_a_fiber_that_is_not_running_panics_and_says_what_to_do(t *testing.T) {
	said := func(wait func()) (text any) {
		defer func() { text = recover() }()
		wait()
		return nil
	}
	var main *asyncio.Fiber
	asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		main = f
		return f.Wait(f.Go("child", func(*asyncio.Fiber) error {
			want := "asyncio: Sleep was called for fiber main while fiber child runs: a fiber can only wait for itself"
			if got := said(func() { asyncio.Sleep(main, time.Hour) }); got != want {
				t.Errorf("from another fiber: %v, want %q", got, want)
			}
			return nil
		}))
	})
	want := "asyncio: Sleep was called for fiber main while no fiber runs: instead of a go statement use " +
		"Fiber.Go, and keep calls that wait for fibers out of Block"
	if got := said(func() { asyncio.Sleep(main, time.Hour) }); got != want {
		t.Errorf("from no fiber: %v, want %q", got, want)
	}
}

// A Do whose context ends while the loop runs leaves the end of its fiber to the loop. If another fiber has ended the
// loop meanwhile, nobody will start that fiber.
func TestGoexit_ends_a_Do_whose_context_is_over(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := asyncio.NewLoop(t.Context())
		go l.Serve()
		gate := make(chan struct{})
		go l.Do(context.Background(), "exit", func(*asyncio.Fiber) error {
			<-gate
			runtime.Goexit()
			return nil
		})
		synctest.Wait() // until the fiber keeps the loop
		ctx, cancel := context.WithCancelCause(t.Context())
		over := make(chan error)
		go func() {
			over <- l.Do(ctx, "other", func(*asyncio.Fiber) error { t.Error("it has started"); return nil })
		}()
		synctest.Wait() // until it is in the inbox
		why := errors.New("why")
		cancel(why)
		synctest.Wait() // until Do has seen that the loop runs
		close(gate)
		if err := <-over; !errors.Is(err, why) {
			t.Errorf("Do() = %v, want %v", err, why)
		}
	})
}
