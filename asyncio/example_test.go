//go:build !tinygo && !js

package asyncio_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
)

// Two fibers of straight-line code wait at the same time.
func ExampleRun() {
	err := asyncio.Run(context.Background(), func(f *asyncio.Fiber) error {
		f.Go("slow", func(f *asyncio.Fiber) error {
			err := asyncio.Sleep(f, 20*time.Millisecond)
			fmt.Println("slow is done")
			return err
		})
		f.Go("fast", func(f *asyncio.Fiber) error {
			err := asyncio.Sleep(f, time.Millisecond)
			fmt.Println("fast is done")
			return err
		})
		return f.WaitAll()
	})
	fmt.Println(err)
	// Output:
	// fast is done
	// slow is done
	// <nil>
}

func ExampleFiber_Wait() {
	asyncio.Run(context.Background(), func(f *asyncio.Fiber) error {
		sum := 0
		adder := f.Go("adder", func(f *asyncio.Fiber) error {
			for i := range 5 {
				sum += i
				f.Yield()
			}
			return nil
		})
		err := f.Wait(adder)
		fmt.Println(sum, err)
		return err
	})
	// Output: 10 <nil>
}

// A fiber that panics ends alone. A fiber that waits for it gets the error.
func ExamplePanicError() {
	asyncio.Run(context.Background(), func(f *asyncio.Fiber) error {
		divider := f.Go("divider", func(*asyncio.Fiber) error {
			zero := 0
			fmt.Println(1 / zero)
			return nil
		})
		fmt.Println(f.Wait(divider))
		return nil
	})
	// Output: asyncio: fiber divider panicked: runtime error: integer divide by zero
}

func ExampleFiber_Cancel() {
	boring := errors.New("nobody waits for it any more")
	asyncio.Run(context.Background(), func(f *asyncio.Fiber) error {
		sleeper := f.Go("sleeper", func(f *asyncio.Fiber) error {
			return asyncio.Sleep(f, time.Hour)
		})
		f.Yield() // the child begins to sleep
		sleeper.Cancel(boring)
		fmt.Println(f.Wait(sleeper))
		return nil
	})
	// Output: nobody waits for it any more
}

// Block runs a blocking call on a goroutine. The fiber waits, and its siblings run.
func ExampleBlock() {
	c := make(chan string, 1)
	asyncio.Run(context.Background(), func(f *asyncio.Fiber) error {
		f.Go("sender", func(*asyncio.Fiber) error { c <- "hello"; return nil })
		s, err := asyncio.Block(f, func(ctx context.Context) (string, error) {
			select {
			case s := <-c:
				return s, nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		})
		fmt.Println(s, err)
		return err
	})
	// Output: hello <nil>
}

func ExampleFetch() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "item %s", r.URL.Query().Get("id"))
	}))
	defer server.Close()

	bodies := make([]string, 3)
	err := asyncio.Run(context.Background(), func(f *asyncio.Fiber) error {
		for i := range bodies {
			f.Go(fmt.Sprint("item ", i), func(f *asyncio.Fiber) error {
				resp, err := asyncio.Fetch(f, fmt.Sprintf("%s/?id=%d", server.URL, i))
				if err != nil {
					return err
				}
				bodies[i] = string(resp.Body)
				return nil
			})
		}
		return f.WaitAll()
	})
	fmt.Println(bodies, err)
	// Output: [item 0 item 1 item 2] <nil>
}

// Serve runs fibers that are started from outside, until the loop's context is done.
func ExampleLoop_Serve() {
	ctx, stop := context.WithCancel(context.Background())
	loop := asyncio.NewLoop(ctx)
	go func() {
		done := make(chan struct{})
		loop.Go("visitor", func(f *asyncio.Fiber) error {
			defer close(done)
			fmt.Println("served")
			return nil
		})
		<-done
		stop()
	}()
	fmt.Println(loop.Serve())
	// Output:
	// served
	// context canceled
}

// An arena is a scope: when it returns, no fiber started in it runs any more.
func ExampleArena() {
	err := asyncio.Run(context.Background(), func(f *asyncio.Fiber) error {
		err := asyncio.Arena(f, "clocks", func(a *asyncio.Fiber) error {
			for _, name := range []string{"first", "second"} {
				a.Go(name, func(f *asyncio.Fiber) error {
					defer fmt.Println(name, "stops")
					return asyncio.Sleep(f, time.Hour)
				})
			}
			return asyncio.Sleep(a, 10*time.Millisecond)
		})
		fmt.Println("the arena is over")
		return err
	})
	fmt.Println(err)
	// Output:
	// second stops
	// first stops
	// the arena is over
	// <nil>
}

func ExampleAll() {
	square := func(n int) func(*asyncio.Fiber) (int, error) {
		return func(f *asyncio.Fiber) (int, error) {
			return n * n, asyncio.Sleep(f, time.Duration(n)*time.Millisecond)
		}
	}
	asyncio.Run(context.Background(), func(f *asyncio.Fiber) error {
		values, err := asyncio.All(f, square(3), square(1), square(2))
		fmt.Println(values, err)
		return err
	})
	// Output: [9 1 4] <nil>
}

// A race against the clock is a timeout.
func ExampleRace() {
	late := errors.New("too late")
	err := asyncio.Run(context.Background(), func(f *asyncio.Fiber) error {
		answer, err := asyncio.Race(f,
			func(f *asyncio.Fiber) (string, error) { return "answer", asyncio.Sleep(f, time.Hour) },
			func(f *asyncio.Fiber) (string, error) {
				if err := asyncio.Sleep(f, time.Millisecond); err != nil {
					return "", err // the other function has won
				}
				return "", late
			})
		fmt.Printf("%q\n", answer)
		return err
	})
	fmt.Println(err)
	// Output:
	// ""
	// too late
}
