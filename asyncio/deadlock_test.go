package asyncio_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/leaktest"
)

// serving runs use on a goroutine of its own beside a loop that serves, in a bubble, and then ends the loop.
func serving(t *testing.T, use func(t *testing.T, l *asyncio.Loop)) {
	leaktest.Goroutines(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := asyncio.NewLoop(ctx)
		go func() {
			defer cancel()
			use(t, l)
		}()
		l.Serve()
	})
}

// Every fiber waits for a fiber that is not there yet.
func TestServe_a_fiber_waits_for_those_that_come_later(t *testing.T) {
	serving(t, func(t *testing.T, l *asyncio.Loop) {
		c := asyncio.NewChan[string](0)
		places := asyncio.NewSemaphore(1)
		var m asyncio.Mutex
		got := ""
		l.Go("takes", func(f *asyncio.Fiber) error { return places.Acquire(f) })
		acquired := l.Go("waits for a place", func(f *asyncio.Fiber) error { return places.Acquire(f) })
		receives := l.Go("has a mutex, receives", func(f *asyncio.Fiber) (err error) {
			m.Lock(f)
			defer m.Unlock()
			got, _, err = c.Receive(f)
			return err
		})
		ends := make(chan error, 3)
		wait := func(name string, wait func(f *asyncio.Fiber) error) {
			l.Go(name, func(f *asyncio.Fiber) error { ends <- wait(f); return nil })
		}
		wait("waits for a fiber", func(f *asyncio.Fiber) error { return f.Wait(receives) })
		wait("waits for a child", func(f *asyncio.Fiber) error {
			f.Go("child", func(f *asyncio.Fiber) error { return f.Wait(acquired) })
			return f.WaitAll()
		})
		wait("waits for a mutex", func(f *asyncio.Fiber) error { return m.Lock(f) })
		synctest.Wait() // nothing moves
		for name, fn := range map[string]func(f *asyncio.Fiber) error{
			"sends":    func(f *asyncio.Fiber) error { return c.Send(f, "hello") },
			"releases": func(*asyncio.Fiber) error { places.Release(); return nil },
		} {
			if err := l.Do(t.Context(), name, fn); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for range 3 {
			if err := <-ends; err != nil {
				t.Error(err)
			}
		}
		if got != "hello" {
			t.Errorf("received %q", got)
		}
	})
}

// Beside them those that wait only for each other are told.
func TestServe_a_deadlock_beside_a_fiber_that_receives(t *testing.T) {
	serving(t, func(t *testing.T, l *asyncio.Loop) {
		c := asyncio.NewChan[int](0)
		l.Go("receives", func(f *asyncio.Fiber) error { _, _, err := c.Receive(f); return err })
		var one, two asyncio.Mutex
		ends := make(chan error, 2)
		lock := func(name string, first, second *asyncio.Mutex) {
			l.Go(name, func(f *asyncio.Fiber) error {
				first.Lock(f)
				defer first.Unlock()
				f.Yield()
				ends <- second.Lock(f)
				return nil
			})
		}
		lock("a", &one, &two)
		lock("b", &two, &one)
		for range 2 {
			var d *asyncio.DeadlockError
			if err := <-ends; !errors.As(err, &d) || !slices.Equal(d.Fibers, []string{
				"a (waits for a mutex that b has)", "b (waits for a mutex that a has)"}) {
				t.Errorf("Lock() = %v, want a deadlock of a and b", err)
			}
		}
		receives := false
		l.Do(t.Context(), "sends", func(f *asyncio.Fiber) error { receives = c.Send(f, 1) == nil; return nil })
		if !receives {
			t.Error("the fiber that receives was ended, too")
		}
	})
}

// Nobody will unlock what a fiber that is over had: that is found out when it ends.
func TestServe_a_mutex_of_a_fiber_that_is_over(t *testing.T) {
	serving(t, func(t *testing.T, l *asyncio.Loop) {
		c := asyncio.NewChan[int](0)
		var m asyncio.Mutex
		l.Go("keeps", func(f *asyncio.Fiber) error {
			m.Lock(f)
			_, _, err := c.Receive(f)
			return err
		})
		end := make(chan error, 1)
		l.Go("waits", func(f *asyncio.Fiber) error { end <- m.Lock(f); return nil })
		synctest.Wait()
		if len(end) > 0 {
			t.Error("it was ended while the other could go on")
		}
		l.Do(t.Context(), "sends", func(f *asyncio.Fiber) error { return c.Send(f, 1) })
		var d *asyncio.DeadlockError
		if err := <-end; !errors.As(err, &d) {
			t.Errorf("Lock() = %v, want a deadlock", err)
		}
	})
}

// While it does not serve, nobody comes later.
func TestRun_a_channel_that_nobody_sends_on(t *testing.T) {
	leaktest.Goroutines(t)
	type key struct{}
	for name, within := range map[string]func(f *asyncio.Fiber) context.Context{
		"the fiber":          func(f *asyncio.Fiber) context.Context { return f },
		"one with its value": func(f *asyncio.Fiber) context.Context { return context.WithValue(f, key{}, 1) },
	} {
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			_, _, err := asyncio.NewChan[int](0).Receive(within(f))
			return err
		})
		var d *asyncio.DeadlockError
		if !errors.As(err, &d) || !slices.Equal(d.Fibers, []string{"main (waits for a channel to receive from)"}) {
			t.Errorf("%s: Run() = %v, want a deadlock", name, err)
		}
	}
}
