//go:build !tinygo

package asyncio_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/leaktest"
)

// Wherever an arena is in its life, cancelling it ends it with the reason, and none of its fibers goes on or is left.
func TestCancel_an_arena_at_every_point(t *testing.T) {
	reason, second := errors.New("reason"), errors.New("second")
	sleep := func(f *asyncio.Fiber) error { return asyncio.Sleep(f, time.Hour) }
	body := func(a *asyncio.Fiber) error {
		a.Go("member", sleep)
		return a.WaitAll()
	}
	for name, test := range map[string]struct {
		want error
		run  func(f *asyncio.Fiber) *asyncio.Fiber // returns the fiber to wait for
	}{
		"unstarted": {reason, func(f *asyncio.Fiber) *asyncio.Fiber {
			a := f.Go("arena", func(*asyncio.Fiber) error { t.Error("it ran"); return nil })
			a.Cancel(reason)
			return a
		}},
		"running, by itself": {reason, func(f *asyncio.Fiber) *asyncio.Fiber {
			return f.Go("arena", func(a *asyncio.Fiber) error { a.Cancel(reason); return body(a) })
		}},
		"ready": {reason, func(f *asyncio.Fiber) *asyncio.Fiber {
			a := f.Go("arena", func(a *asyncio.Fiber) error { a.Yield(); return body(a) })
			f.Yield()
			a.Cancel(reason)
			return a
		}},
		"parked": {reason, func(f *asyncio.Fiber) *asyncio.Fiber {
			a := f.Go("arena", body)
			asyncio.Sleep(f, time.Second)
			a.Cancel(reason)
			return a
		}},
		"parked, twice": {reason, func(f *asyncio.Fiber) *asyncio.Fiber {
			a := f.Go("arena", body)
			asyncio.Sleep(f, time.Second)
			a.Cancel(reason)
			a.Cancel(second)
			return a
		}},
		"by a member": {reason, func(f *asyncio.Fiber) *asyncio.Fiber {
			return f.Go("arena", func(a *asyncio.Fiber) error {
				a.Go("member", func(f *asyncio.Fiber) error { a.Cancel(reason); return sleep(f) })
				return body(a)
			})
		}},
		"by a member's member, in another arena": {reason, func(f *asyncio.Fiber) *asyncio.Fiber {
			return f.Go("arena", func(a *asyncio.Fiber) error {
				_, err := asyncio.All(a, func(m *asyncio.Fiber) (int, error) { return 0, body(m) },
					func(m *asyncio.Fiber) (int, error) {
						return asyncio.Race(m, func(m *asyncio.Fiber) (int, error) {
							asyncio.Sleep(m, time.Second)
							a.Cancel(reason)
							return 0, sleep(m)
						}, func(m *asyncio.Fiber) (int, error) { return 0, sleep(m) })
					})
				return err
			})
		}},
		"while it is being ended": {nil, func(f *asyncio.Fiber) *asyncio.Fiber {
			return f.Go("arena", func(a *asyncio.Fiber) error {
				a.Go("member", func(f *asyncio.Fiber) error {
					err := sleep(f)
					a.Cancel(reason)
					f.Yield()
					return err
				})
				return a.Yield()
			})
		}},
		"over": {nil, func(f *asyncio.Fiber) *asyncio.Fiber {
			a := f.Go("arena", func(*asyncio.Fiber) error { return nil })
			f.Wait(a)
			a.Cancel(reason)
			return a
		}},
		"from another goroutine": {reason, func(f *asyncio.Fiber) *asyncio.Fiber {
			a := f.Go("arena", body)
			go a.Cancel(reason)
			return a
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				l := asyncio.NewLoop(t.Context())
				l.Go("main", func(f *asyncio.Fiber) error {
					if err := f.Wait(test.run(f)); err != test.want {
						t.Errorf("the arena ended with %v, want %v", err, test.want)
					}
					return nil
				})
				if err := l.Run(); err != nil {
					t.Error(err)
				}
				if d := time.Since(start); d >= time.Hour {
					t.Errorf("it took %v: a sleep was not ended", d)
				}
			})
		})
	}
}

// A fiber that ignores the cancellation is cancelled again at each wait. It holds up only fibers that must end after
// it.
func TestCancel_ends_every_later_wait_of_the_fiber_too(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("reason")
		start, times := time.Now(), 0
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			a := f.Go("stubborn", func(f *asyncio.Fiber) (err error) {
				for range 1000 {
					if err = asyncio.Sleep(f, time.Hour); err != reason {
						t.Fatalf("Sleep() = %v, want %v", err, reason)
					}
					times++
				}
				return err
			})
			f.Yield()
			a.Cancel(reason)
			return f.Wait(a)
		})
		if err != reason || times != 1000 || time.Since(start) != 0 {
			t.Errorf("Run() = %v after %d waits and %v", err, times, time.Since(start))
		}
	})
}

// If a child of a cancelled fiber fails, the fiber still goes on only after all its children: children before parents.
func TestCancel_a_child_that_fails_does_not_wake_its_parent_early(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason, failure := errors.New("reason"), errors.New("failure")
		var tr trail
		l := asyncio.NewLoop(t.Context())
		parent := l.Go("parent", func(f *asyncio.Fiber) error {
			f.Go("first", tr.sleeper)
			f.Go("second", func(f *asyncio.Fiber) error { tr.sleeper(f); return failure })
			err := f.WaitAll()
			tr.add("parent: %v", err)
			return err
		})
		l.Go("clock", func(f *asyncio.Fiber) error {
			asyncio.Sleep(f, time.Second)
			parent.Cancel(reason)
			return nil
		})
		if err := l.Run(); !errors.Is(err, failure) {
			t.Errorf("Run() = %v, want the failure in it", err)
		}
		tr.want(t, "second: reason", "first: reason", "parent: reason")
	})
}

// A result that arrives together with the cancellation is dropped, in whichever order they come: the wait returns the
// cause.
func TestCancel_a_completion_after_the_cancellation_is_dropped(t *testing.T) {
	t.Run("J-MUX-7", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			reason := errors.New("reason")
			err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
				return asyncio.Arena(f, "arena", func(a *asyncio.Fiber) error {
					for range 3 {
						a.Go("blocks", func(f *asyncio.Fiber) error {
							_, err := asyncio.Block(f, func(ctx context.Context) (int, error) {
								<-ctx.Done()
								return 1, nil
							})
							if err != reason {
								t.Errorf("Block() = %v, want %v", err, reason)
							}
							f.Yield() // the others' functions return meanwhile
							synctest.Wait()
							return err
						})
					}
					a.Yield()
					a.Cancel(reason)
					synctest.Wait() // all three functions have returned before the loop gets a message
					return a.WaitAll()
				})
			})
			if err != reason {
				t.Errorf("Run() = %v, want %v", err, reason)
			}
		})
	})
}

func TestArena_deadlock_inside_an_arena(t *testing.T) {
	t.Run("J-MUX-10", func(t *testing.T) {
		leaktest.Goroutines(t)
		var a, b *asyncio.Fiber
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			return asyncio.Arena(f, "arena", func(arena *asyncio.Fiber) error {
				a = arena.Go("a", func(f *asyncio.Fiber) error { return f.Wait(b) })
				b = arena.Go("b", func(f *asyncio.Fiber) error { return f.Wait(a) })
				return arena.WaitAll()
			})
		})
		var d *asyncio.DeadlockError
		if !errors.As(err, &d) || !slices.Contains(d.Fibers, "a (waits for fiber b)") {
			t.Errorf("Run() = %v, want a deadlock that names a", err)
		}
	})
}

// Go programs usually return ctx.Err().
func TestA_fiber_that_ends_with_its_contexts_error_has_not_failed(t *testing.T) {
	boom := errors.New("boom")
	polite := func(f *asyncio.Fiber) (int, error) {
		asyncio.Sleep(f, time.Hour)
		return 0, fmt.Errorf("polite: %w", f.Err())
	}
	for name, test := range map[string]struct {
		main func(f *asyncio.Fiber) error
		want error
	}{
		"a child": {func(f *asyncio.Fiber) error {
			f.Go("polite", func(f *asyncio.Fiber) error { _, err := polite(f); return err })
			f.Yield()
			return boom
		}, boom},
		"a loser": {func(f *asyncio.Fiber) error {
			_, err := asyncio.Race(f, polite, func(*asyncio.Fiber) (int, error) { return 1, nil })
			return err
		}, nil},
		"a member": {func(f *asyncio.Fiber) error {
			_, err := asyncio.All(f, polite, func(*asyncio.Fiber) (int, error) { return 0, boom })
			return err
		}, boom},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if err := asyncio.Run(t.Context(), test.main); err != test.want {
					t.Errorf("Run() = %v, want %v", err, test.want)
				}
			})
		})
	}
}

// lateContext is a context whose listeners the test calls one by one.
type lateContext struct {
	context.Context
	err       error
	listeners []func()
}

func (c *lateContext) Done() <-chan struct{} { return make(chan struct{}) }
func (c *lateContext) Err() error            { return c.err }
func (c *lateContext) AfterFunc(fn func()) (stop func() bool) {
	c.listeners = append(c.listeners, fn)
	return func() bool { return false }
}

// A context notifies its listeners in any order. Here the loop hears of the end before the fibers do.
func TestRun_cancels_fibers_whose_contexts_have_not_heard_yet(t *testing.T) {
	leaktest.Goroutines(t)
	ctx := &lateContext{Context: t.Context()}
	reason := errors.New("reason")
	l := asyncio.NewLoop(ctx)
	l.Go("sleeper", func(f *asyncio.Fiber) error {
		f.Go("canceller", func(*asyncio.Fiber) error {
			ctx.err = reason
			ctx.listeners[len(ctx.listeners)-1]() // the loop's
			return nil
		})
		err := asyncio.Sleep(f, time.Hour)
		if err != reason || f.Err() == nil {
			t.Errorf("Sleep() = %v, and Err() = %v; want the reason", err, f.Err())
		}
		return err
	})
	if err := l.Run(); !errors.Is(err, reason) {
		t.Errorf("Run() = %v, want the reason", err)
	}
}
