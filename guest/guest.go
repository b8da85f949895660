// Package guest runs a guest, a wasm module whose imports may wait, on a server: in wazero. The imports are Go
// functions.
//
//	g, err := guest.New(ctx, binary, guest.Options{Name: "shop.wasm", Imports: guest.Imports{"shop": {
//		"price": func(f *guest.Fiber, item string) (int32, error) {
//			return asyncio.Block(f, func(ctx context.Context) (int32, error) { return query(ctx, item) })
//		},
//	}}})
//	...
//	go g.Serve()
//	results, err := g.Call(request.Context(), "total", "tea,scones") // from any goroutine, many at once
//
// [Imports] says which functions may wait, and how the guest sees their errors. A program that makes all its calls
// beforehand uses [Guest.Go] and [Guest.Run] instead of Call and Serve.
//
// # How it works
//
// A call of an export is a fiber of an [asyncio.Loop]. The fiber is a coroutine that runs the wazero call, so a waiting
// fiber is a goroutine's stack with wasm frames on it, and the loop runs other fibers meanwhile. As in a browser one
// fiber runs at a time, so the fibers share the one instance without locks. The way of one fetch:
//
//	Guest.Go  ->  the loop starts the fiber: a region for its shadow stack, its arguments on it
//	guest     ... calls its import env.fetch_text
//	between       wasm of ours in between (bind.go); calls the host function
//	Call.wait     looks at the guard of the region, notes the stack pointer and sets it to the base
//	asyncio.Fetch parks the fiber; others run; the answer comes; the loop enters the fiber
//	Call.wait     sets the stack pointer back; the body goes into the guest's memory
//	between       returns the length, or throws an exception if the wait failed or the fiber was cancelled
//	guest     ... returns
//
// # How a call ends
//
// It returns; or it lets an exception out (a wait failed, the fiber was cancelled); or it traps, overflows its shadow
// stack, or exits by WASI. Only an exit ends the other calls, too.
//
// # Fibers of the guest's own
//
// A guest may also have fibers by one of the four systems of include/fiberfill.h. Then a call of an export is the root
// of these fibers, and the calls run one after the other. See proposal.go. A fiber that has begun costs about 30 KB,
// apart from the part of its region that it touches: the runtime's call has a stack of 10 KB, and keeps a second one
// for the try_table at its bottom.
//
// # What differs from a browser
//
// Exceptions of the guest's own cross from fiber to fiber unchanged, as in a browser. When one leaves the entry, the
// call's error says nothing about it, because the runtime does not; if an import has thrown an exception to the call
// before, the error is that import's. An exception that ends a wait carries nothing; a guest cannot tell it from one
// that JavaScript throws. WASI's own functions cannot throw: a fiber that is cancelled in its sleep there ends without
// its cleanup. WASI reads and writes files and standard streams without giving way to other fibers; its sleep and
// sched_yield let them run. The runtime has neither garbage-collected types nor 64-bit memories; exceptions, tail calls
// and typed references are experimental in it, and this package enables them.
package guest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/experimental/table"
	"github.com/tetratelabs/wazero/sys"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/modules"
	"github.com/fiberfill/fiberfill/internal/shadow"
	"github.com/fiberfill/fiberfill/internal/wasm"
)

// Options say how a guest is run. The zero value suits most.
type Options struct {
	Name   string // of the module, for messages
	Stacks Stacks
	// Concurrency is how many calls run at once; the others wait for their turn, in order. 0 means all.
	Concurrency int

	// What WASI provides. Args are those of a command, without the name of the program.
	Args           []string
	Env            []Variable
	Mounts         []Mount
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	// Imports are the functions that the guest may import besides fiberfill's own: yield and sleep_ms of fiberfill, the
	// operations of its systems, and WASI's.
	Imports Imports
	// Ended is called when a call is over, before any other call runs; not for a Guest.Call that was cancelled before
	// it began.
	Ended func(c *Call)
	// Warn is called once, when a call has to wait for another call because the guest's stacks cannot be kept apart.
	Warn func(text string)

	// What only tests need.
	cache   wazero.CompilationCache // nil: none
	modules []string                // whose imports more provides
	more    func(ctx context.Context, g *Guest) error
}

// A Variable is a variable of the environment.
type Variable struct{ Name, Value string }

// A Mount shows a directory to the guest.
type Mount struct{ Host, Guest string }

// A Guest is one instance and the loop that runs its calls. [Guest.Call] may be used from any goroutine while
// [Guest.Serve] runs; the other methods, like the loop's fibers, must not run concurrently.
type Guest struct {
	Loop *asyncio.Loop

	ctx      context.Context
	options  Options
	runtime  wazero.Runtime
	exports  map[string]api.FunctionDefinition
	module   api.Module
	memory   api.Memory         // nil: none
	pointer  api.MutableGlobal  // of the shadow stack; nil: none
	base     uint32             // its value while no call runs
	plan     shadow.Plan        // how the calls' stacks are kept
	regions  *regions           // nil: the calls have none of their own
	serial   bool               // calls run one after another
	told     bool               // that they do
	last     *asyncio.Fiber     // of the calls that have asked for their turn
	holder   *Call              // whose turn it is; nil: nobody's
	places   *asyncio.Semaphore // of calls that run at once; nil: for all
	running  *Call
	table    int32     // index of the table through which functions of the guest are called; negative: none
	proposal *proposal // nil: the guest imports none
	calls    []*Call   // in the order in which they were made
	over     int       // how many of them are over

	bindings []*binding   // what a guest may import
	made     atomic.Int64 // calls by Call
	cancel   context.CancelCauseFunc

	first     *Call      // of _initialize; nil: there has been none
	exited    *ExitError // not nil: a call has called proc_exit
	closed    bool
	unreserve func() // gives the memory back; nil: that is Go's
}

// New makes an instance from the bytes of a module. Its fibers are cancelled when ctx is done. The caller closes the
// guest.
func New(ctx context.Context, binary []byte, options Options) (*Guest, error) {
	g := &Guest{options: options}
	switch {
	case options.Concurrency < 0:
		return nil, fmt.Errorf("Options.Concurrency is %d: at least one call must be able to run", options.Concurrency)
	case options.Concurrency > 0:
		g.places = asyncio.NewSemaphore(options.Concurrency)
	}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	g.Loop = asyncio.NewLoop(g.ctx)
	config := wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2 |
		experimental.CoreFeaturesExceptionHandling | experimental.CoreFeaturesTailCall |
		experimental.CoreFeaturesExtendedConst | experimental.CoreFeaturesTypedFunctionReferences)
	if options.cache != nil {
		config = config.WithCompilationCache(options.cache)
	}
	g.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if err := g.instantiate(context.WithoutCancel(ctx), binary); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// Close frees the instance. No call of it may be under way. Closing again does nothing.
func (g *Guest) Close() {
	if g.closed {
		return
	}
	g.closed = true
	if g.proposal != nil {
		g.proposal.system.Close() // ends its fibers
	}
	g.cancel(nil)
	g.runtime.Close(context.Background())
	if g.unreserve != nil {
		g.unreserve()
	}
}

func (g *Guest) instantiate(ctx context.Context, binary []byte) error {
	parsed, err := parse(g.options.Name, binary)
	if err != nil {
		return err
	}
	pointer, err := g.options.Stacks.pointer(parsed)
	if err != nil {
		return fmt.Errorf("%s: %w", g.options.Name, err)
	}
	pointerName := parsed.FreeName("fiberfill:stack_pointer")
	growth := parsed.Growth()
	if pointer >= 0 {
		if binary, parsed, err = expose(binary, parsed, pointerName, wasm.KindGlobal, uint32(pointer)); err != nil {
			return err
		}
		if hidden := shadow.Hidden(parsed); hidden >= 0 {
			binary, parsed, err = expose(binary, parsed, shadow.Exposed, wasm.KindFunc, uint32(hidden))
			if err != nil {
				return err
			}
		}
	}
	if g.table = tableOf(parsed); g.table >= 0 {
		binary, _, err = expose(binary, parsed, parsed.FreeName("fiberfill:table"), wasm.KindTable, uint32(g.table))
		if err != nil {
			return err
		}
	}
	compiled, err := modules.Compile(ctx, g.runtime, binary)
	if err != nil {
		return fmt.Errorf("wazero, the runtime, refuses %s: %w", g.options.Name, err)
	}
	g.exports = compiled.ExportedFunctions()
	mayWait, err := g.provide(ctx, compiled)
	if err != nil {
		return err
	}
	g.module, err = g.runtime.InstantiateModule(g.reserve(ctx), compiled, g.config())
	if exit := (*sys.ExitError)(nil); errors.As(err, &exit) {
		err = &ExitError{Code: exit.ExitCode()}
	}
	if err != nil {
		return fmt.Errorf("%s cannot be instantiated: %w", g.options.Name, err)
	}
	if parsed.Memory.Exists { // otherwise the runtime returns a nil of its own, which is not nil
		g.memory = g.module.Memory()
	}
	if g.proposal != nil {
		if err := g.proposal.attach(ctx); err != nil {
			return err
		}
	}
	if pointer >= 0 && g.options.Stacks.Pointer != none {
		g.pointer = g.module.ExportedGlobal(pointerName).(api.MutableGlobal)
		g.base = uint32(g.pointer.Get())
	}
	g.panicText(ctx) // the guest prepares
	if !mayWait && g.proposal == nil {
		return nil // a call that cannot wait is over before another starts
	}
	if g.plan, err = g.options.Stacks.plan(parsed, pointer, growth, g.proposal != nil); err != nil {
		return fmt.Errorf("%s: %w", g.options.Name, err)
	}
	g.serial = g.plan.Source == shadow.Serial || g.proposal != nil
	switch g.plan.Source {
	case shadow.FromAllocator:
		name := string(parsed.Name(parsed.Exports[g.plan.Allocator.Export]))
		g.regions = &regions{guest: g, size: g.plan.Size, malloc: g.module.ExportedFunction(name)}
	case shadow.Grow:
		g.regions = &regions{guest: g, size: g.plan.Size}
	}
	return nil
}

// tableExport is the name under which C compilers export the table of function pointers.
const tableExport = "__indirect_function_table"

// tableOf returns the index of the table by which a module's functions are called: the table exported as tableExport,
// or else the only one that is exported. It returns a negative number if there is none.
func tableOf(m *wasm.Module) int32 {
	only := int32(-1)
	for _, e := range m.Exports {
		switch {
		case e.Kind != wasm.KindTable:
		case string(m.Name(e)) == tableExport:
			return int32(e.Index)
		case only == -1 || only == int32(e.Index):
			only = int32(e.Index)
		default:
			only = -2 // several
		}
	}
	return only
}

// expose makes a module export one more thing.
func expose(binary []byte, m *wasm.Module, name string, kind byte, index uint32) ([]byte, *wasm.Module, error) {
	binary = m.AppendExport(nil, name, kind, index)
	m, err := parse("", binary)
	return binary, m, err
}

// inTable reports whether a place of the table is empty or holds a function of the type.
func (g *Guest) inTable(place uint32, params, results []api.ValueType) (null, is bool) {
	defer func() {
		err, _ := recover().(error)
		null = err != nil && strings.Contains(err.Error(), "invalid table access")
		is = err == nil
	}()
	table.LookupFunction(g.module, uint32(g.table), place, params, results)
	return
}

func (g *Guest) stackPointer() uint64 {
	if g.pointer == nil {
		return 0
	}
	return g.pointer.Get()
}

func (g *Guest) setStackPointer(to uint64) {
	if g.pointer != nil {
		g.pointer.Set(to)
	}
}

// faults say what is wrong with a module that cannot be read.
var faults = map[wasm.Code]string{
	wasm.Truncated:  "ends in the middle of something; it may be incomplete",
	wasm.BadNumber:  "has a number of more bits than it may have",
	wasm.BadType:    "has a type of an unknown form",
	wasm.BadIndex:   "names a type, function or global that does not exist",
	wasm.BadImport:  "has an import of an unknown kind",
	wasm.BadSection: "has a section twice, or one that does not end where it says",
	wasm.BadOpcode:  "has an unknown instruction",
	wasm.BadFlags:   "has a byte that chooses among forms, and chooses none",
}

// parse reads what has to be known of a module before it is compiled.
func parse(name string, binary []byte) (*wasm.Module, error) {
	name = cmp.Or(name, "the module")
	if len(binary) == 0 { // a build that failed leaves such a file
		return nil, fmt.Errorf("%s is empty", name)
	}
	m := new(wasm.Module)
	switch code := wasm.Parse(binary, m); code {
	case wasm.OK:
		return m, nil
	case wasm.NotWasm:
		if binary[0] == '(' || binary[0] == ';' {
			return nil, fmt.Errorf("%s is not a WebAssembly module but, it seems, WebAssembly text: assemble it with "+
				"wasm-as or wat2wasm", name)
		}
		return nil, fmt.Errorf("%s is not a WebAssembly module: such a file begins with the bytes 00 61 73 6d, this "+
			"one with % x", name, binary[:min(4, len(binary))])
	case wasm.BadVersion:
		return nil, fmt.Errorf("%s is not a WebAssembly module of version 1; if it is a component, take the core "+
			"module out of it", name)
	default:
		return nil, fmt.Errorf("%s is not a WebAssembly module that fiberfill can read: at byte %d it %s", name, m.At,
			faults[code])
	}
}

// rest sets the stack pointer to its value while no call runs.
func (g *Guest) rest() { g.setStackPointer(uint64(g.base)) }

// Run runs the calls that were made by [Guest.Go] and returns when all are over. Each [Call] tells how it ended. The
// module's export _initialize is called first, once, as a fiber of its own; if it fails, no other fiber starts.
func (g *Guest) Run() {
	calls := g.Calls()
	calls = append(g.initialize(), calls...)
	g.start(calls)
	g.finish(calls, g.Loop.Run())
}

// Serve runs the calls of [Guest.Call] until the context that the guest was made with is done; then it cancels the
// calls that are under way, waits for their end, and returns the cause. It calls the module's export _initialize first,
// like [Guest.Run], and all calls wait for its end; if it fails, Serve returns its error, and so does every Call.
func (g *Guest) Serve() error {
	first := g.initialize()
	g.start(first)
	g.finish(first, g.Loop.Serve()) // the callers have the errors of their calls
	return context.Cause(g.ctx)
}

// initialize makes the call that all others wait for, unless there is none, or there has been one.
func (g *Guest) initialize() []*Call {
	if _, ok := g.exports[initialize]; !ok || g.first != nil {
		return nil
	}
	c, err := g.newCall(initialize, initialize, nil)
	if err != nil { // it has parameters
		c = &Call{Name: initialize, Export: initialize, guest: g, State: Failed, Err: err}
		g.cancel(err)
	} else {
		g.calls = append(g.calls, c)
	}
	g.first = c
	return []*Call{c}
}

// initialize is the export by which a WASI library prepares itself.
const initialize = "_initialize"

// initialized waits until the call of _initialize is over, and returns its error.
func (g *Guest) initialized(c *Call) error {
	if g.first == nil || c == g.first || g.first.State == Done && g.first.Err == nil {
		return nil
	}
	if !g.first.Over() {
		c.fiber.Wait(g.first.fiber)
	}
	return cmp.Or(context.Cause(c.fiber), g.first.Err)
}

func (g *Guest) start(calls []*Call) {
	for _, c := range calls {
		if c.Over() || c.fiber != nil { // the latter: a Run inside of a Run, which is about to panic
			continue
		}
		c.fiber = g.Loop.Go(c.Name, func(f *asyncio.Fiber) error {
			c.run(f)
			if c == g.first && c.Err != nil {
				g.cancel(c.Err)
			}
			return nil
		})
	}
}

// finish ends the calls that the loop has not run to their ends.
func (g *Guest) finish(calls []*Call, err error) {
	for _, c := range calls {
		switch {
		case c.Over():
		case c.State == Queued && (g.ctx.Err() != nil || err == nil): // cancelled before it started
			c.end(Cancelled, context.Cause(c.fiber))
		default:
			c.end(Failed, err)
		}
	}
}
