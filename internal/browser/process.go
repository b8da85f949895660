package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// errDone is why a program ends that has done its work.
var errDone = errors.New("browser: no longer needed")

// start starts a program that a page needs; prepare completes its command. The context ends when ctx does, or when the
// program exits early, with an error that has the program's output. stop ends the program and all that it has started,
// and returns when they have exited. On Linux, any end of this process ends the program, too.
func start(ctx context.Context, prepare func(*exec.Cmd), path string, args ...string) (
	alive context.Context, stop func(), err error) {
	alive, end := context.WithCancelCause(ctx)
	var output bytes.Buffer
	c := exec.CommandContext(alive, path, args...)
	c.Stdout, c.Stderr = &output, &output
	group(c)
	// All that the program has started has its output open. Wait waits for that, but not for ever.
	c.WaitDelay = 5 * time.Second
	if prepare != nil {
		prepare(c)
	}
	if err := c.Start(); err != nil {
		end(errDone)
		return nil, nil, fmt.Errorf("browser: %w", err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		err := c.Wait()
		end(fmt.Errorf("browser: %s ended before the page told its result: %v\n%s", path, err, output.Bytes()))
	}()
	return alive, func() { end(errDone); <-exited }, nil
}
