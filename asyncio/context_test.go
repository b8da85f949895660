//go:build !tinygo

package asyncio_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/leaktest"
)

// Every function that waits ends its wait when a derived context is done, and the fiber goes on.
func TestDerived_contexts_end_every_wait(t *testing.T) {
	forever := func(f *asyncio.Fiber) error { return asyncio.Sleep(f, time.Hour) }
	value := func(f *asyncio.Fiber) (int, error) { return 0, forever(f) }
	for name, wait := range map[string]func(ctx context.Context) error{
		"Sleep": func(ctx context.Context) error { return asyncio.Sleep(ctx, time.Hour) },
		"Block": func(ctx context.Context) error {
			_, err := asyncio.Block(ctx, func(ctx context.Context) (int, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			})
			return err
		},
		"Arena": func(ctx context.Context) error { return asyncio.Arena(ctx, "arena", forever) },
		"Arena, a method": func(ctx context.Context) error {
			return asyncio.Arena(ctx, "arena", func(a *asyncio.Fiber) error { return a.Wait(a.Go("child", forever)) })
		},
		"All":      func(ctx context.Context) error { _, err := asyncio.All(ctx, value, value); return err },
		"AllLimit": func(ctx context.Context) error { _, err := asyncio.AllLimit(ctx, 1, value, value); return err },
		"Race":     func(ctx context.Context) error { _, err := asyncio.Race(ctx, value, value); return err },
		"Semaphore": func(ctx context.Context) error {
			s := asyncio.NewSemaphore(1)
			s.Acquire(ctx)
			return s.Acquire(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
					begin := time.Now()
					ctx, cancel := context.WithTimeout(f, time.Second)
					defer cancel()
					if err := wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("the wait ended with %v", err)
					}
					if took := time.Since(begin); took != time.Second {
						t.Errorf("the wait took %v, want 1 s", took)
					}
					if err := wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("a wait behind the deadline ended with %v", err)
					}
					return asyncio.Sleep(f, time.Second) // the fiber is not cancelled
				})
				if err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A cancelled fiber's waits end with its cause, also those of a derived context, children before parents.
func TestDerived_contexts_of_a_cancelled_fiber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("enough")
		var order []string
		l := asyncio.NewLoop(t.Context())
		f := l.Go("f", func(f *asyncio.Fiber) error {
			ctx, cancel := context.WithTimeout(f, time.Hour)
			defer cancel()
			err := asyncio.Arena(ctx, "arena", func(a *asyncio.Fiber) error {
				inner, cancel := context.WithTimeout(a, time.Hour)
				defer cancel()
				err := asyncio.Sleep(inner, time.Hour)
				order = append(order, "arena "+err.Error())
				return err
			})
			order = append(order, "f "+err.Error())
			return err
		})
		time.AfterFunc(time.Second, func() { f.Cancel(reason) })
		if err := l.Run(); err != nil {
			t.Error(err)
		}
		if got, want := strings.Join(order, ", "), "arena enough, f enough"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// The context that a function given to Block gets belongs to no fiber, so that the function cannot wait as one.
func TestBlock_hides_the_fiber(t *testing.T) {
	leaktest.Goroutines(t)
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		_, err := asyncio.Block(f, func(ctx context.Context) (int, error) { return 0, asyncio.Sleep(ctx, 1) })
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "Sleep was called with a context of no fiber") {
		t.Errorf("Run() = %v", err)
	}
}

// Goroutines run fibers in a loop that serves, and get their errors; a done context ends the fiber.
func TestDo(t *testing.T) {
	leaktest.Goroutines(t)
	type key struct{}
	ctx, stop := context.WithCancel(t.Context())
	l := asyncio.NewLoop(ctx)
	served := make(chan error, 1)
	go func() { served <- l.Serve() }()
	var callers sync.WaitGroup
	together := 0
	for i := range 100 {
		callers.Go(func() {
			failure := errors.New("mine")
			err := l.Do(context.WithValue(ctx, key{}, i), "f", func(f *asyncio.Fiber) error {
				together++ // no lock: fibers of one loop do not run at once
				for together < 100 {
					f.Yield()
				}
				if f.Value(key{}) != i {
					t.Errorf("fiber %d has the value %v", i, f.Value(key{}))
				}
				return failure
			})
			if err != failure {
				t.Errorf("Do() = %v", err)
			}
		})
	}
	callers.Wait()

	reason := errors.New("the client has gone")
	own, cancel := context.WithCancelCause(ctx)
	unwound := false
	err := l.Do(own, "f", func(f *asyncio.Fiber) error {
		cancel(reason)
		err := asyncio.Sleep(f, time.Hour)
		unwound = true
		return err
	})
	if err != reason || !unwound {
		t.Errorf("Do() = %v, unwound %v; want the cause", err, unwound)
	}
	stop()
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Errorf("Serve() = %v", err)
	}
	if err := l.Do(t.Context(), "late", func(*asyncio.Fiber) error { t.Error("it ran"); return nil }); err !=
		context.Canceled {
		t.Errorf("Do() behind the end of the loop = %v", err)
	}
}

// Without a running loop Do ends with its context, and the fiber never starts.
func TestDo_of_a_loop_that_does_not_run(t *testing.T) {
	leaktest.Goroutines(t)
	l := asyncio.NewLoop(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Do(ctx, "f", func(*asyncio.Fiber) error { t.Error("it ran"); return nil }); err != context.Canceled {
		t.Errorf("Do() = %v", err)
	}
	if err := l.Run(); err != nil {
		t.Error(err)
	}
}

func TestDo_from_a_fiber_panics(t *testing.T) {
	leaktest.Goroutines(t)
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		return asyncio.NewLoop(t.Context()).Do(f, "inner", func(*asyncio.Fiber) error { return nil })
	})
	if err == nil || !strings.Contains(err.Error(), "use Fiber.Go") {
		t.Errorf("Run() = %v", err)
	}
}

func TestAllLimit(t *testing.T) {
	leaktest.Goroutines(t)
	for _, limit := range []int{1, 3, 10, 99} {
		alive, most, started := 0, 0, ""
		fns := make([]func(*asyncio.Fiber) (int, error), 10)
		for i := range fns {
			fns[i] = func(f *asyncio.Fiber) (int, error) {
				alive++
				most = max(most, alive)
				started += string(rune('0' + i))
				for range 10 - i {
					f.Yield()
				}
				alive--
				return i * i, nil
			}
		}
		var got []int
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) (err error) {
			got, err = asyncio.AllLimit(f, limit, fns...)
			return err
		})
		if err != nil || most != min(limit, 10) || started != "0123456789" || len(got) != 10 || got[9] != 81 {
			t.Errorf("limit %d: %v, %d at once, started %s, values %v", limit, err, most, started, got)
		}
	}
}

func TestAllLimit_of_none_panics(t *testing.T) {
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		_, err := asyncio.AllLimit(f, 0, func(*asyncio.Fiber) (int, error) { return 1, nil })
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "needs a limit of at least 1") {
		t.Errorf("Run() = %v", err)
	}
}

// After a failure or a cancellation no more fibers are started.
func TestAllLimit_starts_none_behind_a_failure(t *testing.T) {
	leaktest.Goroutines(t)
	failure := errors.New("mine")
	started := 0
	fail := func(f *asyncio.Fiber) (int, error) { started++; f.Yield(); return 0, failure }
	ctx, cancel := context.WithCancelCause(t.Context())
	err := asyncio.Run(ctx, func(f *asyncio.Fiber) error {
		_, err := asyncio.AllLimit(f, 2, fail, fail, fail, fail)
		return err
	})
	if !errors.Is(err, failure) || started != 2 {
		t.Errorf("%v, %d started, want 2", err, started)
	}
	started = 0
	asyncio.Run(ctx, func(f *asyncio.Fiber) error {
		swallow := func(f *asyncio.Fiber) (int, error) { started++; cancel(failure); <-f.Done(); return 1, nil }
		values, err := asyncio.AllLimit(f, 1, swallow, swallow)
		if err != failure || values != nil {
			t.Errorf("%v, %v; want no values and the cause", values, err)
		}
		return err
	})
	if started != 1 {
		t.Errorf("%d started behind the cancellation", started-1)
	}
}
