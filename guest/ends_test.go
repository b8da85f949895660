package guest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
)

const initializes = "testdata/initialize.wasm"

// Calls of Guest.Call wait for the end of _initialize: those made before Serve, and those made while it waits.
func TestCallsWaitForInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		goOn := make(chan struct{})
		g := loadWith(t, ctx, initializes, Options{Imports: Imports{"env": {
			"wait": func(f *Fiber) error {
				_, err := asyncio.Block(f, func(context.Context) (any, error) { return <-goOn, nil })
				return err
			},
			"plain": func(n int32) int32 { return n },
		}}})
		var calls, serving sync.WaitGroup
		call := func() {
			calls.Go(func() {
				results, err := g.Call(t.Context(), "done")
				if err != nil || results[0] != int32(1) {
					t.Errorf("a call has run before the end of _initialize: %v, %v", results, err)
				}
			})
			synctest.Wait()
		}
		call()
		serving.Go(func() { g.Serve() })
		synctest.Wait()
		call()
		close(goOn)
		calls.Wait()
		stop()
		serving.Wait()
	})
}

// However an import ends the goroutine that it was called on, that call alone ends: its region is free again, and it is
// no other call's turn for ever.
func TestImportsThatEndTheGoroutine(t *testing.T) {
	inner := errors.New("of another guest")
	for name, end := range map[string]func(){
		"the panic of another guest's trap": func() { panic(&TrapError{Fiber: "x", Export: "y", Reason: inner}) },
		"the panic of another guest's exit": func() { panic(&ExitError{Code: 3}) },
		"Goexit":                            runtime.Goexit,
	} {
		for _, source := range []Source{Grow, Serial, Copy} {
			t.Run(name+", "+string(source), func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				g := loadWith(t, ctx, initializes, Options{Stacks: Stacks{Source: source}, Imports: Imports{"env": {
					"wait": func(f *Fiber) error { return f.Yield() },
					"plain": func(n int32) int32 {
						if n == 0 {
							end()
						}
						return n
					},
				}}})
				var serving sync.WaitGroup
				serve := func() { serving.Go(func() { g.Serve() }) }
				serve()
				_, err := g.Call(t.Context(), "plain", 0)
				if name == "Goexit" {
					serving.Wait()
					serve()
				} else if trap := (*TrapError)(nil); !errors.As(err, &trap) || trap.Export != "plain" {
					t.Errorf("the call has ended with %v", err)
				}
				if err == nil {
					t.Error("the call has ended without an error")
				}
				results, err := g.Call(t.Context(), "plain", 7)
				if err != nil || results[0] != int32(7) {
					t.Errorf("the next call: %v, %v", results, err)
				}
				stop()
				serving.Wait()
				if live := g.Calls(); len(live) != 0 {
					t.Errorf("calls are left: %v", live)
				}
				if r := g.regions; r != nil && len(r.free) != len(r.all) {
					t.Errorf("%d of %d regions are free", len(r.free), len(r.all))
				}
			})
		}
	}
}

// A second Close, as by defer, must not give back what belongs to another guest by then.
func TestCloseTwice(t *testing.T) {
	imports := Imports{"env": {
		"wait":  func(f *Fiber) error { return f.Yield() },
		"plain": func(n int32) int32 { return n },
	}}
	first := load(t, initializes, Options{Imports: imports})
	first.Close()
	second := load(t, initializes, Options{Imports: imports}) // at the same addresses, most likely
	first.Close()
	c := call(t, second, "plain", "plain", "7")
	second.Run()
	c.want(t, "7")
}

// A guest that runs its calls one after another waits for itself if one of its imports calls it by way of another
// guest.
func TestCallByWayOfAnotherGuest(t *testing.T) {
	for _, options := range []Options{
		{Stacks: Stacks{Source: Grow}}, {Stacks: Stacks{Source: Serial}},
		{Stacks: Stacks{Source: Grow}, Concurrency: 1},
	} {
		overlap := options.Stacks.Source == Grow && options.Concurrency == 0
		t.Run(fmt.Sprint(options.Stacks.Source, options.Concurrency), func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			var guests [2]*Guest
			var serving sync.WaitGroup
			for i := range guests {
				options.Imports = Imports{"env": {
					"wait": func(f *Fiber) error { return f.Yield() },
					"plain": func(f *Fiber, n int32) (int32, error) {
						if n == 0 {
							return 7, nil
						}
						return asyncio.Block(f, func(ctx context.Context) (int32, error) {
							results, err := guests[1-i].Call(ctx, "plain", n-1)
							if err != nil {
								return 0, err
							}
							return results[0].(int32), nil
						})
					},
				}}
				guests[i] = loadWith(t, ctx, initializes, options)
				serving.Go(func() { guests[i].Serve() })
			}
			results, err := guests[0].Call(t.Context(), "plain", 2)
			if overlap && (err != nil || results[0] != int32(7)) {
				t.Errorf("%v, %v", results, err)
			} else if !overlap && !strings.Contains(fmt.Sprint(err), "the guest would wait for itself") {
				t.Errorf("%v, %v", results, err)
			}
			stop()
			serving.Wait()
		})
	}
}

// Imports of a module named like one of fiberfill's own, in a guest with fibers of its own.
func TestImportsOfAModuleNamedHost(t *testing.T) {
	module := "\x00asm\x01\x00\x00\x00" + section(1, "\x02\x60\x01\x7f\x01\x7f\x60\x00\x01\x7f") +
		section(2, "\x02\x11fiberfill/fibers1\x03tag\x00\x00\x04host\x01f\x00\x01") + section(3, "\x01\x01") +
		section(4, "\x01\x70\x00\x01") + section(5, "\x01\x00\x01") +
		section(7, "\x02\x01t\x01\x00\x02go\x00\x02") + section(10, "\x01\x04\x00\x10\x01\x0b")
	g, err := New(t.Context(), []byte(module), Options{Name: "some.wasm", Imports: Imports{"host": {
		"f": func() int32 { return 7 },
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	c := call(t, g, "first", "go")
	g.Run()
	c.want(t, "7")
}

// A child that an import starts, and that nobody waits for, ends before the call does. Its failure is the call's.
func TestChildrenOfImports(t *testing.T) {
	full := errors.New("the audit log is full")
	for _, fails := range []bool{true, false} {
		var ended []string
		g := load(t, initializes, Options{
			Ended: func(c *Call) { ended = append(ended, c.Name) },
			Imports: Imports{"env": {
				"wait": func(f *Fiber) error { return f.Yield() },
				"plain": func(f *Fiber, n int32) (int32, error) {
					f.Go("audit", func(child *asyncio.Fiber) error {
						if fails {
							return full
						}
						defer func() { ended = append(ended, "child") }()
						return asyncio.Sleep(child, time.Hour)
					})
					return n, f.Yield()
				},
			}},
		})
		c := call(t, g, "plain", "plain", "7")
		g.Run()
		if fails {
			if !errors.Is(c.Err, full) || c.State != Failed || c.Results != nil {
				t.Errorf("%v, %v, %v", c.State, c.Results, c.Err)
			}
			continue
		}
		c.want(t, "7")
		if got := fmt.Sprint(ended); !strings.HasSuffix(got, "child plain]") {
			t.Errorf("ended: %s", got)
		}
	}
}

// A function that runs on in Block after its call has been cancelled must not write to the call's stack, which may be
// another call's.
func TestWriteAfterTheCall(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	asked, gate, refused := make(chan bool), make(chan bool), make(chan any)
	g := loadWith(t, ctx, watGuest, Options{Imports: Imports{"env": {
		"log": func(int32, int32) {},
		"fetch_text": func(f *Fiber, _ string, buffer, _ uint32) (uint32, error) {
			return asyncio.Block(f, func(context.Context) (uint32, error) {
				close(asked)
				<-gate
				defer func() { refused <- recover() }()
				f.Call.Write(buffer, []byte("text"))
				return 4, nil
			})
		},
	}}})
	served := make(chan error)
	go func() { served <- g.Serve() }()
	own, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, err := g.Call(own, "item", "/item?id=1"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(gate)
	if why := fmt.Sprint(<-refused); !strings.Contains(why, "is over, and another call may have its stack") {
		t.Error(why)
	}
	stop()
	<-served
}
