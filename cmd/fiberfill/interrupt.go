package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// interruption is the state of the signal handling, and of the timeout.
type interruption struct {
	code atomic.Int32 // the exit code; 0: nothing has come so far
	stop func()
}

// atOnce is how soon after the first signal a second one counts as the same: the command timeout signals the process
// and then its group.
const atOnce = 500 * time.Millisecond

// grace is how long after the timeout the process is ended, with fibers that never wait.
const grace = 2 * time.Second

// untilInterrupted returns a context that the first SIGINT or SIGTERM cancels, or the timeout. A second signal ends the
// process.
func (r *run) untilInterrupted() (context.Context, *interruption) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	i := &interruption{}
	var over, late <-chan time.Time
	if r.timeout > 0 {
		over, late = time.After(r.timeout), time.After(r.timeout+grace)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var first time.Time
		for {
			select {
			case s, ok := <-signals:
				if !ok {
					return
				}
				code := 128 + int(s.(syscall.Signal))
				if !i.code.CompareAndSwap(0, int32(code)) {
					if time.Since(first) > atOnce {
						r.output.flush(r.unended)
						os.Exit(code)
					}
					continue
				}
				first = time.Now()
				r.note("%v: cancelling the fibers; a second signal ends the process at once", s)
				cancel(fmt.Errorf("%v", s))
			case <-over:
				if i.code.CompareAndSwap(0, exitTimeout) {
					err := fmt.Errorf("the timeout of %v is over", r.timeout)
					r.note("%v: cancelling the fibers", err)
					cancel(err)
				}
			case <-late:
				if i.code.Load() == exitTimeout {
					r.say("a fiber does not wait and cannot be cancelled: the process ends %v after the timeout", grace)
					r.output.flush(r.unended)
					os.Exit(exitTimeout)
				}
			}
		}
	}()
	i.stop = func() {
		signal.Stop(signals)
		close(signals)
		<-done
		cancel(nil)
	}
	return ctx, i
}
