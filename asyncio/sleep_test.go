//go:build !tinygo

package asyncio_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
)

func TestSleep_wakes_in_order_of_time(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var got []string
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			for _, ms := range []int{30, 10, 20} {
				f.Go(fmt.Sprint(ms), func(f *asyncio.Fiber) error {
					err := asyncio.Sleep(f, time.Duration(ms)*time.Millisecond)
					got = append(got, fmt.Sprint(f.Name(), "@", time.Since(start).Milliseconds()))
					return err
				})
			}
			return f.WaitAll()
		})
		if err != nil || strings.Join(got, " ") != "10@10 20@20 30@30" {
			t.Errorf("woke %v, %v", got, err)
		}
	})
}

func TestSleep_takes_as_long_as_said(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			for i := range 1000 {
				d, start := time.Duration(i)*3_777_701+1, time.Now()
				if err := asyncio.Sleep(f, d); err != nil || time.Since(start) != d {
					return fmt.Errorf("Sleep %v took %v, %v", d, time.Since(start), err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// time.Sleep accepts such durations. Here the deadline once overflowed: it was always over, and the bubble's clock
// stood still.
func TestSleep_for_ever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := asyncio.Run(ctx, func(f *asyncio.Fiber) error { return asyncio.Sleep(f, math.MaxInt64) })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestSleep_ends_when_cancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("enough")
		start := time.Now()
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			child := f.Go("sleeper", func(f *asyncio.Fiber) error {
				err := asyncio.Sleep(f, time.Hour)
				if err != cause || context.Cause(f) != cause || f.Err() != context.Canceled {
					t.Errorf("Sleep() = %v, cause %v, Err() = %v", err, context.Cause(f), f.Err())
				}
				select {
				case <-f.Done():
				default:
					t.Error("Done() is open after the cancellation")
				}
				if again := asyncio.Sleep(f, time.Hour); again != cause {
					t.Errorf("the next Sleep() = %v, want the cause again", again)
				}
				return err
			})
			asyncio.Sleep(f, time.Second)
			child.Cancel(cause)
			child.Cancel(errors.New("too late"))
			return f.Wait(child)
		})
		if err != cause {
			t.Errorf("Run() = %v, want %v", err, cause)
		}
		if d := time.Since(start); d != time.Second {
			t.Errorf("it took %v, want 1s", d)
		}
	})
}
