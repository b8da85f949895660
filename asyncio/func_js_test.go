//go:build !tinygo

package asyncio_test

import (
	"context"
	"errors"
	"syscall/js"
	"testing"

	"github.com/fiberfill/fiberfill/asyncio"
)

// A call that no loop will run any more is rejected with the cause of the loop's context: one made after Serve has
// returned, and one that still waits for Serve as the context ends.
func TestFuncOf_without_a_loop(t *testing.T) {
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	l := asyncio.NewLoop(ctx)
	fn := l.FuncOf("fn", func(*asyncio.Fiber, js.Value, []js.Value) (any, error) { return 1, nil })
	defer fn.Release()
	rejected := make(chan string, 2)
	call := func() {
		fulfilled := js.FuncOf(func(js.Value, []js.Value) any { rejected <- "fulfilled"; return nil })
		fails := js.FuncOf(func(_ js.Value, args []js.Value) any {
			rejected <- args[0].Get("message").String()
			return nil
		})
		fn.Invoke().Call("then", fulfilled, fails)
	}
	call()
	stop(stopped)
	if got := <-rejected; got != "stopped" {
		t.Errorf("a call before the end: %s", got)
	}
	if err := l.Serve(); !errors.Is(err, stopped) {
		t.Errorf("Serve() = %v", err)
	}
	call()
	if got := <-rejected; got != "stopped" {
		t.Errorf("a call after the end: %s", got)
	}
}
