//go:build !tinygo

package asyncio_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/leaktest"
)

// users runs n fibers that enter by enter, wait inside and leave by leave. It returns the order in which they came in
// and the most that were inside at once.
func users(t *testing.T, n int, enter func(context.Context) error, leave func()) (order string, most int) {
	t.Helper()
	inside := 0
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		for i := range n {
			f.Go(fmt.Sprint(i), func(f *asyncio.Fiber) error {
				if err := enter(f); err != nil {
					return err
				}
				defer leave()
				order += f.Name()
				inside++
				most = max(most, inside)
				for range 3 {
					f.Yield()
				}
				inside--
				return nil
			})
		}
		return f.WaitAll()
	})
	if err != nil {
		t.Fatal(err)
	}
	return order, most
}

func TestMutex_and_Semaphore_let_in_as_many_as_they_say_in_order(t *testing.T) {
	leaktest.Goroutines(t)
	var m asyncio.Mutex
	if order, most := users(t, 6, m.Lock, m.Unlock); order != "012345" || most != 1 {
		t.Errorf("Mutex: order %s, %d at once", order, most)
	}
	s := asyncio.NewSemaphore(3)
	if order, most := users(t, 7, s.Acquire, s.Release); order != "0123456" || most != 3 {
		t.Errorf("Semaphore: order %s, %d at once", order, most)
	}
}

// Whoever gives up its wait, by a cancellation or a timeout, holds nothing; the next one gets the mutex.
func TestMutex_survives_those_who_give_up(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m asyncio.Mutex
		reason := errors.New("enough")
		var ends []string
		end := func(f *asyncio.Fiber, err error) error {
			ends = append(ends, fmt.Sprint(f.Name(), " ", err))
			return nil
		}
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			m.Lock(f)
			cancelled := f.Go("cancelled", func(f *asyncio.Fiber) error { return end(f, m.Lock(f)) })
			f.Go("late", func(f *asyncio.Fiber) error {
				ctx, cancel := context.WithTimeout(f, time.Second)
				defer cancel()
				return end(f, m.Lock(ctx))
			})
			f.Go("next", func(f *asyncio.Fiber) error {
				err := m.Lock(f)
				defer m.Unlock()
				return end(f, err)
			})
			f.Yield()
			cancelled.Cancel(reason)
			asyncio.Sleep(f, 2*time.Second)
			m.Unlock()
			return f.WaitAll()
		})
		want := "cancelled enough, late context deadline exceeded, next <nil>"
		if got := strings.Join(ends, ", "); err != nil || got != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	})
}

// What was handed to a fiber that is cancelled before it runs is not lost.
func TestMutex_handed_to_a_cancelled_fiber(t *testing.T) {
	leaktest.Goroutines(t)
	var m asyncio.Mutex
	locked := 0
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		m.Lock(f)
		use := func(f *asyncio.Fiber) error {
			if err := m.Lock(f); err != nil {
				return err
			}
			locked++
			m.Unlock()
			return nil
		}
		first := f.Go("first", use)
		f.Go("second", use)
		f.Yield()
		m.Unlock()
		first.Cancel(nil)
		return f.WaitAll()
	})
	if err != nil || locked != 2 {
		t.Errorf("%v, locked %d times, want 2", err, locked)
	}
}

func TestMutex_waits_for_itself(t *testing.T) {
	leaktest.Goroutines(t)
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		var m asyncio.Mutex
		m.Lock(f)
		return m.Lock(f)
	})
	var deadlock *asyncio.DeadlockError
	if !errors.As(err, &deadlock) || !strings.Contains(err.Error(), "main (waits for a mutex that main has)") {
		t.Errorf("Run() = %v, want a deadlock that names the mutex", err)
	}
}

func TestChan_passes_values_in_order(t *testing.T) {
	for _, capacity := range []int{0, 1, 3, 100} {
		t.Run(fmt.Sprint(capacity), func(t *testing.T) {
			leaktest.Goroutines(t)
			const values = 50
			c := asyncio.NewChan[int](capacity)
			sent, ahead := 0, 0
			err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
				f.Go("sender", func(f *asyncio.Fiber) error {
					for i := range values {
						if err := c.Send(f, i); err != nil {
							return err
						}
						sent++
					}
					c.Close()
					return nil
				})
				for want := 0; ; want++ {
					f.Yield()
					f.Yield()
					ahead = max(ahead, sent-want)
					got, open, err := c.Receive(f)
					if !open || err != nil {
						if want != values {
							t.Errorf("ended after %d values", want)
						}
						return err
					}
					if got != want {
						t.Fatalf("received %d, want %d", got, want)
					}
				}
			})
			if err != nil || ahead > capacity+1 {
				t.Errorf("%v; the sender was %d values ahead", err, ahead)
			}
		})
	}
}

// Each value is received by one fiber; closing ends all waits.
func TestChan_with_many_receivers(t *testing.T) {
	leaktest.Goroutines(t)
	c := asyncio.NewChan[int](2)
	sum, ended := 0, 0
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		for i := range 5 {
			f.Go(fmt.Sprint("receiver ", i), func(f *asyncio.Fiber) error {
				for {
					v, open, err := c.Receive(f)
					if !open || err != nil {
						ended++
						return err
					}
					sum += v
				}
			})
		}
		for i := range 101 {
			if err := c.Send(f, i); err != nil {
				return err
			}
		}
		c.Close()
		return f.WaitAll()
	})
	if err != nil || sum != 5050 || ended != 5 {
		t.Errorf("%v, sum %d, %d receivers ended", err, sum, ended)
	}
}

func TestChan_gives_up_by_a_derived_context(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := asyncio.NewChan[string](0)
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			ctx, cancel := context.WithTimeout(f, time.Second)
			defer cancel()
			if _, _, err := c.Receive(ctx); err != context.DeadlineExceeded {
				t.Errorf("Receive() = %v", err)
			}
			if err := c.Send(ctx, "too late"); err != context.DeadlineExceeded {
				t.Errorf("Send() = %v", err)
			}
			f.Go("sender", func(f *asyncio.Fiber) error { return c.Send(f, "in time") })
			if v, open, err := c.Receive(f); v != "in time" || !open || err != nil {
				t.Errorf("Receive() = %q, %v, %v", v, open, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestSync_wrong_uses_panic(t *testing.T) {
	leaktest.Goroutines(t)
	closed := func() *asyncio.Chan[int] {
		c := asyncio.NewChan[int](1)
		c.Close()
		return c
	}
	for want, use := range map[string]func(f *asyncio.Fiber){
		"Mutex.Unlock: nobody has taken it":          func(*asyncio.Fiber) { new(asyncio.Mutex).Unlock() },
		"Semaphore.Release: nobody has taken it":     func(*asyncio.Fiber) { asyncio.NewSemaphore(1).Release() },
		"at least one place":                         func(*asyncio.Fiber) { asyncio.NewSemaphore(0) },
		"the capacity is negative":                   func(*asyncio.Fiber) { asyncio.NewChan[int](-1) },
		"Chan.Send: the channel is closed":           func(f *asyncio.Fiber) { closed().Send(f, 1) },
		"Chan.Close: the channel is closed already":  func(*asyncio.Fiber) { closed().Close() },
		"Mutex.Lock was called with a context of no": func(*asyncio.Fiber) { new(asyncio.Mutex).Lock(t.Context()) },
		"fibers of another loop": func(f *asyncio.Fiber) {
			var m asyncio.Mutex
			m.Lock(f)
			err := asyncio.Run(context.Background(), func(f *asyncio.Fiber) error { return m.Lock(f) })
			panic(err)
		},
	} {
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error { use(f); return nil })
		var panicked *asyncio.PanicError
		if !errors.As(err, &panicked) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want a panic with %q", err, want)
		}
	}
}
