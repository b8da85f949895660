//go:build !tinygo

package asyncio

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fiberfill/fiberfill/polyfill"
)

// PanicError is the error of a fiber whose function panicked. The other fibers go on.
type PanicError struct {
	Fiber  string // the fiber's name
	Export string // the exported function that JavaScript called; empty for other fibers
	Value  any    // what was passed to panic
	// The fiber's stack at the panic, as text. Behind it stands the stack of the last function given to Block that
	// panicked, if any.
	Stack []byte
}

// Error names the fiber and the value, on one line and without the stack.
func (e *PanicError) Error() string {
	if e.Export != "" {
		return fmt.Sprintf("asyncio: fiber %s, which runs the exported function %s, panicked: "+
			"%v", e.Fiber, e.Export, e.Value)
	}
	return fmt.Sprintf("asyncio: fiber %s panicked: %v", e.Fiber, e.Value)
}

// Unwrap returns Value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// frames returns the frames of the user's functions, innermost first, as JavaScript engines write them.
func (e *PanicError) frames() string {
	var text strings.Builder
	function, inside := "", false // inside: between the call of panic and the fiber's own frames
	for line := range strings.Lines(string(e.Stack)) {
		line = strings.TrimRight(line, "\n")
		file, isFile := strings.CutPrefix(line, "\t")
		switch {
		case strings.HasPrefix(line, "goroutine "):
			inside = false
		case !isFile:
			function = line[:max(0, strings.LastIndexByte(line, '('))]
			inside = inside && !strings.HasSuffix(function, "/asyncio.(*Fiber).main")
		case function == "panic":
			inside = true
		case inside:
			place, _, _ := strings.Cut(file, " +0x")
			fmt.Fprintf(&text, "    at %s (%s)\n", function, place)
		}
	}
	return strings.TrimRight(text.String(), "\n")
}

var (
	errTooMany = fmt.Errorf("asyncio: fiber not started: %d fibers are alive, or 2^32 have been in this loop; no "+
		"more are possible", polyfill.MaxFibers)
	errGoexit     = errors.New("asyncio: the fiber called runtime.Goexit")
	errStopped    = errors.New("asyncio: the loop was ended by runtime.Goexit in another fiber")
	errParentOver = fmt.Errorf("asyncio: the fiber that started this one is over: %w", context.Canceled)
	errLost       = fmt.Errorf("asyncio: another fiber has won the race: %w", context.Canceled)
	errOver       = fmt.Errorf("asyncio: the fiber is over: %w", context.Canceled)
)

// endOf returns the cause for cancelling the fibers of a scope that has ended with err.
func endOf(err error) error {
	if err == nil {
		return errParentOver
	}
	return fmt.Errorf("asyncio: %w, because the scope of this fiber has failed: %w", context.Canceled, err)
}

// ownCause reports whether err only says that f was cancelled: it is the cause, or f's error as a context. In both
// cases f has not failed.
func (f *Fiber) ownCause(err error) bool {
	if f.ctx.Err() == nil {
		return false
	}
	cause := context.Cause(f.ctx)
	_, deadlock := cause.(*DeadlockError) // nobody asked for it
	return !deadlock && onlyCause(err, cause, f.ctx.Err())
}

// onlyCause reports whether err consists of cause and done only. It looks at every joined error, so that another
// fiber's failure is not mistaken for the cancellation.
func onlyCause(err, cause, done error) bool {
	if panicked := (*PanicError)(nil); errors.As(err, &panicked) {
		return false // whatever it panicked with
	}
	var j *joinedError
	if !errors.As(err, &j) {
		return errors.Is(err, cause) || errors.Is(err, done)
	}
	for _, err := range j.errs {
		if !onlyCause(err, cause, done) {
			return false
		}
	}
	return true
}

// joinedError is an error with the failures of other fibers attached. It is like the result of [errors.Join], but
// distinct from errors that users join.
type joinedError struct{ errs []error }

func (e *joinedError) Error() string   { return errors.Join(e.errs...).Error() }
func (e *joinedError) Unwrap() []error { return e.errs }

// join adds failures to err. A lone error stays itself, so that it can be compared.
func join(err error, failures []error) error {
	switch {
	case len(failures) == 0:
		return err
	case err == nil && len(failures) == 1:
		return failures[0]
	case len(failures) == 1 && errors.Is(err, failures[0]): // err wraps the failure already
		return err
	}
	if err != nil {
		failures = append([]error{err}, failures...)
	}
	return &joinedError{failures}
}
