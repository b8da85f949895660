package run

import (
	"errors"
	"fmt"

	"github.com/fiberfill/fiberfill/polyfill"
)

// Exception is thrown by the code of a fiber and may be caught by it.
type Exception struct {
	Tag    *Tag
	Values Values
	// Back is the reference to the thrower, the zero Token if there is none (C-THROW-3).
	Back polyfill.Token
}

func (e *Exception) Error() string {
	return fmt.Sprintf("uncaught exception %v", e.Tag)
}

// Throw throws an exception. It does not return.
func Throw(tag *Tag, values ...Value) {
	panic(&Exception{Tag: tag, Values: append(Values(nil), values...)})
}

// Try calls f and returns the exception that left it, nil if none did. Traps pass through it (K-9).
func Try(f func()) (caught *Exception) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Exception:
			caught = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// Trap tells why a live chain has ended: an operation was refused, or a panic left a fiber. Call returns it as its
// error.
type Trap struct {
	Operation string // with the system: "fibers1.resume"
	Fiber     string // name of the fiber that trapped
	Code      polyfill.Trap
	Rule      string // id of the rule, empty if it is a limit of the implementation
	Why       string // the reason, the rule, what was expected and given, and what to do
	Panic     any    // the value, if a panic left the fiber
	Stack     []byte // of that panic
	// Chain is the fibers that the trap has ended: the live chain from the active fiber outward, without the root.
	Chain []polyfill.Fiber
}

func (t *Trap) Error() string {
	if t.Panic != nil {
		return fmt.Sprintf("panic in %s: %v", t.Fiber, t.Panic)
	}
	return fmt.Sprintf("fiber %s trapped: %s refused: %s", t.Fiber, t.Operation, t.Why)
}

// Unwrap returns the error that the fiber panicked with, if it was one.
func (t *Trap) Unwrap() error {
	err, _ := t.Panic.(error)
	return err
}

// ErrNoStack is what the function of a fiber panics with, wrapped or not, if there is no stack for it to begin on. Then
// the operation that has entered the fiber traps, and its issuer ends, too.
var ErrNoStack = errors.New("there is no stack for a fiber")

// unwinding is the private panic that unwinds the goroutine of a fiber that is over.
type unwinding struct{}

func (unwinding) String() string {
	return "polyfill/run: the fiber has ended; this panic unwinds its goroutine and cannot be recovered"
}
