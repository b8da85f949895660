package guest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/shadow"
)

// A Call is one call of an export, which is a fiber.
type Call struct {
	Name   string // of the fiber
	Export string
	State  State
	// WaitsFor is the import that the fiber waits in, with what it waits for there; empty while it does not wait.
	WaitsFor string
	Since    time.Time // of the last change of State

	// How it ended. In the results an i32 is an int32, an i64 an int64, an f32 a float32, an f64 a float64; any other
	// value is as the runtime has it, one or two uint64.
	Results []any
	Err     error

	guest  *Guest
	fiber  *asyncio.Fiber
	face   *Fiber // what imports get
	args   []argument
	region *region
	high   uint32 // where its shadow stack begins
	threw  error  // the error of the last exception that the guest got from a wait
	death  error  // not nil: the fiber must not run any more, for this reason
	// what one of its imports has panicked with
	panicked *importPanic

	closed atomic.Bool // it is over, and others may have its stack

	swallowed int // waits begun since it was cancelled

	imported string // the last import that it called
	saved    uint32 // the stack pointer, while it waits
	stack    []byte // the used part of its stack, from saved, if it is copied out while it waits
}

// patience is how many waits a cancelled fiber may begin: enough to clean up.
const patience = 1000

// State is what a fiber does.
type State string

const (
	Queued    State = "queued"    // not started
	Running   State = "running"   // its code runs
	Waiting   State = "waiting"   // for what an import has begun, or for its turn after that
	Done      State = "done"      // the export has returned
	Failed    State = "failed"    // it has ended with an error
	Cancelled State = "cancelled" // it has ended with the error of its context
)

// A TrapError ends the one fiber that has trapped, or that has overflowed its shadow stack, or whose import has
// panicked: then it wraps an [*asyncio.PanicError], which has the stack.
type TrapError struct {
	Fiber, Export string
	Reason        error
	// Fibers are those of a proposal's system at that moment. The trap has ended the active one and the busy ones.
	Fibers []ProposalFiber
}

func (e *TrapError) Error() string {
	return fmt.Sprintf("fiber %s trapped in export %s: %v", e.Fiber, e.Export, e.Reason)
}

func (e *TrapError) Unwrap() error { return e.Reason }

// An ExitError is the error of all calls when one call of the guest has called WASI's proc_exit. [New] returns it when
// the guest's start function has called it.
type ExitError struct {
	Fiber string // that called; empty: the start function
	Code  uint32
}

func (e *ExitError) Error() string {
	if e.Fiber == "" {
		return fmt.Sprintf("the start function exited with code %d", e.Code)
	}
	return fmt.Sprintf("fiber %s exited with code %d", e.Fiber, e.Code)
}

type callKey struct{}

// Go makes a fiber that will call an export, and returns it at once: it starts with the next [Guest.Run], after those
// made before. The error says what is wrong with the name of the export, or with the arguments: see [Guest.Call]. Go
// may be called only while the guest does not run, or by one of its imports.
func (g *Guest) Go(name, export string, args ...any) (*Call, error) {
	c, err := g.newCall(name, export, args)
	if err == nil {
		g.add(c)
	}
	return c, err
}

// Call calls an export as a fiber and waits for its results. It may be called from any goroutine while [Guest.Serve]
// runs, and any number of calls may be under way at once. An import of the guest must not call it: the guest would wait
// for itself.
//
// An argument is an int32, uint32, int64, uint64, float32 or float64 for a parameter of the same type in wasm; an int
// for an i32 or i64; or a string or []byte, which takes two parameters of type i32: it is copied to the fiber's stack,
// and the guest gets its address and its length. The results are as [Call] has them.
//
// When ctx is done the call is cancelled: the wait that it is in ends with an exception, the guest's own cleanup runs,
// and Call returns the cause. Imports find the values of ctx in their fiber. A [*TrapError] ends this call alone.
//
// Nothing ends code that never waits: a loop without end keeps this call and all others of the guest, whatever their
// contexts say. Run guests that you do not trust in a process of their own.
func (g *Guest) Call(ctx context.Context, export string, args ...any) ([]any, error) {
	for c, direct := ctx.Value(inImport{}).(*Call); c != nil; c, _ = c.fiber.Value(inImport{}).(*Call) {
		if c.guest == g && (direct || g.serial || g.options.Concurrency == 1) {
			return nil, fmt.Errorf("Guest.Call(%q): the context is that of an import, which fiber %s has called: the "+
				"guest would wait for itself", export, c.Name)
		}
		direct = false // another guest's import has called that guest
	}
	c, err := g.newCall(fmt.Sprint(export, "#", g.made.Add(1)), export, args)
	if err != nil {
		return nil, err
	}
	err = g.Loop.Do(ctx, c.Name, func(f *asyncio.Fiber) error {
		g.add(c)
		c.fiber = f
		c.run(f)
		return c.Err
	})
	return c.Results, err
}

func (g *Guest) newCall(name, export string, args []any) (*Call, error) {
	definition, ok := g.exports[export]
	if !ok {
		if export == "" {
			return nil, fmt.Errorf("name what to call: %s exports %s", g.options.Name, g.list())
		}
		return nil, fmt.Errorf("%s exports no function %q; it exports %s", g.options.Name, export, g.list())
	}
	list, err := arguments(export, definition, args)
	if err != nil {
		return nil, err
	}
	c := &Call{Name: name, Export: export, guest: g, args: list}
	c.become(Queued, "")
	return c, nil
}

func (g *Guest) add(c *Call) {
	isOther := func(c *Call) bool { return c != g.first && !c.Over() }
	if g.serial && g.plan.Why > shadow.ByName && !g.told && slices.ContainsFunc(g.calls, isOther) {
		g.told = true
		if g.options.Warn != nil {
			g.options.Warn(g.options.Name + ": " + serially(g.plan.Why))
		}
	}
	g.calls = append(g.calls, c)
}

// Calls returns the calls that are not over, in the order in which they were made.
func (g *Guest) Calls() (live []*Call) {
	for _, c := range g.calls {
		if !c.Over() {
			live = append(live, c)
		}
	}
	return live
}

// Over reports whether the call has come to its end.
func (c *Call) Over() bool { return c.State == Done || c.State == Failed || c.State == Cancelled }

// String is the results as text, one after the other: integers with their sign, and the type of any value that is no
// number.
func (c *Call) String() string {
	var words []string
	for i, t := range c.guest.exports[c.Export].ResultTypes() {
		if i < len(c.Results) { // otherwise it has not returned
			words = append(words, format(t, c.Results[i]))
		}
	}
	return strings.Join(words, " ")
}

// Value returns the value for key of the context that the call was made with: see [Guest.Call].
func (c *Call) Value(key any) any { return c.fiber.Value(key) }

// callIn returns the call that has called a host function; nil if there is none.
func callIn(ctx context.Context) *Call {
	if p, ok := ctx.Value(callKey{}).(*proposal); ok {
		return p.entry
	}
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// callOf is callIn for functions that need a call.
func callOf(ctx context.Context, name string) *Call {
	c := callIn(ctx)
	if c == nil {
		panic(fmt.Errorf("import %s was called where no fiber runs: in the module's start function, or in its malloc "+
			"for a fiber's stack", name))
	}
	return c
}
