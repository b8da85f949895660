package guest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// A proposal belongs to a guest that imports the operations of one of the four systems (include/fiberfill.h): it is a
// machine of package run for that guest alone. A fiber of the machine is a Go function that runs a call of wasm on the
// one instance, on a coroutine of its own. An operation is a host function: it tells the machine what the guest asks
// for and returns when the fiber is entered again. This file adds what lies in the guest's memory:
//
//	resume    fibers1.wat calls the host function
//	perform     notes who runs, and the stack pointer
//	fibers1.go  reads the event, has the machine resume, and writes what has arrived, much later
//	perform     puts both back
//	resume    returns the label, or throws what a fiber has let out: see bodies.wat
//
// # Entries
//
// The root of the machine is a call of an export. Such calls run one after the other, each to its end: a fiber that
// waits for a fetch holds up the whole entry, and with it the entries that have not started. Fibers that are suspended
// when an entry ends live on until the guest is closed.
//
// # Traps
//
// A refused operation ends the live chain and the entry with a [TrapError] whose reason is a [Refused]. A trap of the
// guest's own code in one of the fibers ends them, too. Fibers outside the live chain stay as they are.
type proposal struct {
	guest      *Guest
	name       string // fibers1
	operations []operation
	system     system
	bodies     api.Module
	exception  *run.Tag     // stands for all exceptions: the current one is in a global of wasm
	carrier    api.Function // the call that it has left, which keeps it from the garbage collector

	atTrap  []ProposalFiber   // the fibers that existed when the last entry trapped
	entry   *Call             // that runs; nil: none
	current *fiber            // that runs; nil: the entry itself
	doing   string            // the operation under way
	inside  string            // not empty: a function of the guest runs that must not use the system; this names it
	fibers  []*fiber          // those that are not over, and some that are
	seen    map[function]bool // the fibers that exist
}

// A system is one of the four systems of package run.
type system interface {
	Call(f func() []run.Value) ([]run.Value, error)
	Close()
	Live() int
	State(f polyfill.Fiber) polyfill.State
	Outside(f func())
}

// A function is a place of the guest's table, and the kind of function that must be there.
type function struct {
	place uint32
	kind  kind
}

// A fiber of a proposal.
type fiber struct {
	id     polyfill.Fiber // 0: not noted yet
	body   uint32         // place of its function in the table
	region *region        // nil: never entered
}

// An operation is one import. It finds its parameters in s and writes its result over them.
type operation struct {
	name            string
	params, results int  // all of them i32
	waits           bool // an exception may come out of it
	do              func(s []uint64)
}

// Refused tells which operation was refused and why: a rule forbids it, or what the guest passed to it does not exist.
type Refused struct {
	Operation string        // as it is imported: fibers1.resume
	Reason    string        // with the id of the rule, and what to do
	Trap      polyfill.Trap // OK: no rule of the proposal forbids it
}

func (e *Refused) Error() string { return e.Operation + " refused: " + e.Reason }

// refuse ends the operation that runs, and with it the live chain.
func (p *proposal) refuse(format string, args ...any) {
	panic(&Refused{Operation: p.name + "." + p.doing, Reason: fmt.Sprintf(format, args...)})
}

var (
	//go:embed caught.wasm
	caughtWasm []byte
	//go:embed bodies.wasm
	bodiesWasm []byte
	//go:embed fibers1.wasm
	fibers1Wasm []byte
	//go:embed fibers2.wasm
	fibers2Wasm []byte
	//go:embed stacks.wasm
	stacksWasm []byte
	//go:embed cont.wasm
	contWasm []byte
)

// proposals are the systems, by the modules that guests import.
var proposals = map[string]struct {
	wasm []byte
	make func(p *proposal)
}{
	"fiberfill/fibers1": {fibers1Wasm, newFibers1},
	"fiberfill/fibers2": {fibers2Wasm, newFibers2},
	"fiberfill/stacks":  {stacksWasm, newStacks},
	"fiberfill/cont":    {contWasm, newCont},
}

// proposed looks up an import: ok is false if the module is not one of these, has is false if it has no such function.
func (g *Guest) proposed(module, name, signature string) (has, ok bool, err error) {
	found, ok := proposals[module]
	if !ok {
		return false, false, nil
	}
	short := module[len("fiberfill/"):]
	if g.proposal == nil {
		g.proposal = &proposal{guest: g, name: short, exception: run.NewException("an " +
			"exception"), seen: map[function]bool{}}
		found.make(g.proposal)
	} else if g.proposal.name != short {
		return false, true, fmt.Errorf("%s imports from fiberfill/%s and from %s: each is a machine of its own, and "+
			"one stack cannot belong to two", g.options.Name, g.proposal.name, module)
	}
	return slices.ContainsFunc(g.proposal.operations, func(o operation) bool {
		return o.name == name && signature == o.signature()
	}), true, nil
}

func i32s(n int) []api.ValueType {
	types := make([]api.ValueType, n)
	for i := range types {
		types[i] = api.ValueTypeI32
	}
	return types
}

func (o operation) signature() string { return signed(i32s(o.params), i32s(o.results)) }

// offer instantiates the operations, for the guest to import.
func (p *proposal) offer(ctx context.Context) error {
	g := p.guest
	builder := g.runtime.NewHostModuleBuilder("fiberfill:host")
	for _, o := range p.operations {
		results := o.results
		if o.waits {
			results++
		}
		perform := api.GoFunc(func(_ context.Context, s []uint64) { p.perform(&o, s) })
		builder.NewFunctionBuilder().WithGoFunction(perform, i32s(o.params), i32s(results)).Export(o.name)
	}
	_, err := builder.Instantiate(ctx)
	for _, m := range []struct {
		name string
		wasm []byte
	}{{"fiberfill:caught", caughtWasm}, {"fiberfill/" + p.name, proposals["fiberfill/"+p.name].wasm}} {
		if err == nil {
			_, err = g.runtime.InstantiateWithConfig(ctx, m.wasm, wazero.NewModuleConfig().WithName(m.name))
		}
	}
	return err
}

// attach instantiates the module that calls the guest's functions, once the guest exists.
func (p *proposal) attach(ctx context.Context) (err error) {
	g := p.guest
	if g.memory == nil {
		return fmt.Errorf("%s imports from fiberfill/%s, and has no memory: export it", g.options.Name, p.name)
	}
	if g.table < 0 {
		return fmt.Errorf("%s imports from fiberfill/%s, and exports no table to call the functions of its fibers "+
			"by: export the one of function pointers as %s (clang: "+
			"-Wl,--export-table)", g.options.Name, p.name, tableExport)
	}
	ctx = experimental.WithImportResolver(ctx, func(name string) api.Module {
		if name == "fiberfill:guest" {
			return g.module
		}
		return nil
	})
	config := wazero.NewModuleConfig().WithName("fiberfill:bodies")
	p.bodies, err = g.runtime.InstantiateWithConfig(ctx, bodiesWasm, config)
	if err != nil {
		return fmt.Errorf("%s: the functions of its table cannot be called: %w", g.options.Name, err)
	}
	return nil
}

// enter runs an entry. The error may be the call's own, or the trap of one of its fibers.
func (p *proposal) enter(c *Call, call func() ([]uint64, error)) (results []uint64, err error) {
	p.entry, p.current, p.inside = c, nil, ""
	p.atTrap = nil
	_, failure := p.system.Call(func() []run.Value {
		results, err = call()
		return nil
	})
	p.entry, p.current = nil, nil
	var chain []polyfill.Fiber
	trap, refused := (*run.Trap)(nil), (*Refused)(nil)
	if errors.As(failure, &trap) {
		chain = trap.Chain
		switch {
		case trap.Panic == nil:
			err = &Refused{trap.Operation, trap.Why, trap.Code}
		case trap.Unwrap() != nil:
			err = trap.Unwrap()
		default:
			err = trap
		}
	}
	if err == nil {
		return results, nil
	}
	p.atTrap = p.list(chain)
	if errors.As(err, &refused) { // without the text that the runtime adds, like the errors of package run
		err = refused
	}
	return nil, err
}

// narrow clears the upper halves of the slots of a stack of i32s, where the runtime leaves arbitrary bits.
func narrow(s []uint64) []uint64 {
	for i := range s {
		s[i] = uint64(uint32(s[i]))
	}
	return s
}

// perform is every operation.
func (p *proposal) perform(o *operation, s []uint64) {
	p.begin(o.name)
	pointer, current := p.guest.stackPointer(), p.current
	at := narrow(s)[0] // where the operations of stacks have their event
	thrown := run.Try(func() { o.do(s) })
	p.current = current
	p.guest.setStackPointer(pointer)
	if current != nil && current.region.lost != nil {
		panic(current.region.lost)
	}
	if o.waits {
		s[o.results] = 0
		if thrown != nil {
			s[o.results] = 1
			if thrown.Back != (polyfill.Token{}) {
				p.putRef(at, thrown.Back) // C-THROW-3
			}
		}
	}
}

// begin checks what every operation checks first: a fiber runs, and it may use the system.
func (p *proposal) begin(name string) {
	if p.entry == nil {
		panic(fmt.Errorf("import fiberfill/%s.%s was called where no fiber runs: in the module's start function, or "+
			"in its malloc for a fiber's stack", p.name, name))
	}
	if p.inside != "" {
		panic(&Refused{Operation: p.name + "." + name, Reason: "it was called inside of " + p.inside})
	}
	if err := p.entry.overflow(p.guest.end()); err != nil {
		panic(err)
	}
	p.doing = name
}

// alone calls an export of bodies.wat, which calls a function of the guest that must not use the system.
func (p *proposal) alone(inside, export string, params ...uint64) []uint64 {
	function, pointer := p.bodies.ExportedFunction(export), p.guest.stackPointer()
	p.inside = inside
	results, err := function.Call(p.context(), params...)
	p.inside = ""
	p.guest.setStackPointer(pointer)
	if err != nil {
		panic(fmt.Errorf("%s: %w", inside, err))
	}
	p.carrier = function
	return narrow(results)
}

// raise calls the guest's function that throws the exception which an operation throws elsewhere.
func (p *proposal) raise(function, env uint64) {
	p.need(function, ffRaise)
	if p.alone("the function that throws for "+p.name+"."+p.doing, "call", function, env)[0] == 0 {
		p.refuse("function %d has thrown nothing", uint32(function))
	}
}

// context returns the context for calls on behalf of fibers. Imports find the current entry in it.
func (p *proposal) context() context.Context {
	return context.WithValue(p.guest.ctx, callKey{}, p)
}

// fiber returns the record of a new fiber whose function is at a place of the table.
func (p *proposal) fiber(body uint64) *fiber {
	p.need(body, ffBody)
	return &fiber{body: uint32(body)}
}

// A kind is a use of a function of the guest, as include/fiberfill.h names it, with the type that this use needs.
type kind struct {
	name            string
	params, results int // all of them i32
}

var (
	ffBody   = kind{"ff_body", 3, 1}
	ffRaise  = kind{"ff_raise", 1, 0}
	ffAdmits = kind{"ff_admits", 2, 1}
)

// null reports whether there is no function at a place of the table. It refuses a function of another kind.
func (p *proposal) null(place uint64, k kind) bool {
	key := function{uint32(place), k}
	if p.seen[key] {
		return false
	}
	null, is := p.guest.inTable(uint32(place), i32s(k.params), i32s(k.results))
	if !null && !is {
		p.refuse("function %d is no %s", uint32(place), k.name)
	}
	p.seen[key] = is
	return null
}

// need refuses a place of the table where there is no function of the kind.
func (p *proposal) need(place uint64, k kind) {
	if p.null(place, k) {
		p.refuse("there is no %s at %d in the guest's table", k.name, uint32(place))
	}
}

// made notes a fiber under its reference.
func (p *proposal) made(f *fiber, id polyfill.Fiber) {
	if len(p.fibers) > 2*p.system.Live()+16 {
		p.fibers = slices.DeleteFunc(p.fibers, func(f *fiber) bool { return p.system.State(f.id) == polyfill.Moribund })
	}
	f.id = id
	p.fibers = append(p.fibers, f)
}

// start is the Go function of a fiber: put writes the event that starts it.
func (p *proposal) start(f *fiber, self, env uint64, put func(at uint64)) []run.Value {
	g := p.guest
	g.rest() // the guest's malloc may need it
	p.inside = "the guest's malloc for a fiber's stack"
	region, err := g.regions.take(nil)
	p.inside = ""
	if err != nil {
		panic(fmt.Errorf("%w: %w", run.ErrNoStack, err))
	}
	f.region = region
	defer g.regions.give(region)
	p.current = f
	at := uint64(region.high - (eventSize+15)&^15)
	g.setStackPointer(at)
	clear(p.event(at))
	put(at)
	function := p.bodies.ExportedFunction("body")
	results, err := function.Call(p.context(), uint64(f.body), self, env, at)
	if err != nil {
		// If its stack was too small, that is the reason for whatever has followed.
		if overflow := p.overflowed(f); overflow != nil {
			err = overflow
		}
		panic(err)
	}
	p.current, p.doing = f, "return"
	if err := p.entry.overflow(unknown); err != nil {
		panic(err)
	}
	if narrow(results)[1] != 0 {
		p.doing, p.carrier = "throw", function
		run.Throw(p.exception)
	}
	return p.values(at, uint32(results[0]))
}

// overflowed returns the overflow that explains why a fiber has trapped, nil if its stack is intact or if another fiber
// has ended it.
func (p *proposal) overflowed(f *fiber) error {
	if p.entry == nil || p.current != f {
		return nil
	}
	return p.entry.overflow(p.guest.reach())
}

// A ProposalFiber is a fiber of a guest that imports one of the proposals' systems.
type ProposalFiber struct {
	System string // fibers1
	ID     uint32
	State  string
	Body   uint32 // place of its function in the table
}

// Fibers returns the guest's own fibers that are not over, in the order of their making.
func (g *Guest) Fibers() []ProposalFiber {
	if g.proposal == nil {
		return nil
	}
	return g.proposal.list(nil)
}

// list returns the fibers that are not over, and those of chain, which has just ended: the chain's active fiber is its
// first.
func (p *proposal) list(chain []polyfill.Fiber) (list []ProposalFiber) {
	for _, f := range p.fibers {
		state := p.system.State(f.id)
		switch at := slices.Index(chain, f.id); {
		case at == 0:
			state = polyfill.Active
		case at > 0:
			state = polyfill.Busy
		case state == polyfill.Moribund:
			continue
		}
		list = append(list, ProposalFiber{p.name, uint32(f.id), state.String(), f.body})
	}
	return list
}
