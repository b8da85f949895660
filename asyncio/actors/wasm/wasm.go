// Package wasm makes a wasm module the guest of an actor (package actors): straight-line code that calls mk_sleep_ms in
// the middle of its handler, and is one of thousands.
//
//	module, err := wasm.Compile(ctx, binary, wasm.Options{})
//	id, err := runtime.Spawn(module.Guest(), 10, actors.Stack64K)
//
// # The module
//
// It exports handle_message(type i32, source i64, payload i32, size i32) -> i32 and imports what it needs of this from
// "env":
//
//	mk_send(to i64, type i32, payload i32, size i32) -> i32        mk_sleep_ms(ms i32) -> i32
//	mk_self() -> i64                                               mk_recv(type i32, buffer i32, capacity i32, size i32) -> i32
//	mk_log(level i32, text i32, size i32)                          mk_wait_fd_readable(fd i32, timeout_ms i32) -> i32
//	                                                               mk_wait_fd_writable(fd i32, timeout_ms i32) -> i32
//
// They mean what the methods of [actors.Host] mean; examples/c-actor/mk.h describes them for C. An address that is not
// in the guest's memory is a trap. _initialize is called first, if it is exported.
//
// # Instances and stacks
//
// Every actor has an instance of its own, made by [wazero], the runtime; they share nothing. The handler runs on a
// coroutine, so what is suspended is a goroutine's stack with wasm frames on it. Where compilers keep locals whose
// address is taken on a stack in linear memory, the actor gets a region of exactly its class for it when it is spawned,
// and the stack pointer is set to it; an actor of class none runs on the stack that the module brings along. Below a
// region lies a guard; a handler that has written there is ended by a trap when it blocks or returns. It can have
// harmed nobody but itself.
//
// The region, and room for payloads, come from the guest's malloc if it exports malloc and free; else its memory is
// grown, if nothing in the module grows it, because an allocator that finds memory grown behind its back hands that
// part out. A module with neither can be spawned without a stack and be sent messages without a payload.
//
// # What it costs
//
// An instance: its memory, and the class. A switch is one of coroutines. A guest that is dropped while it is blocked is
// unwound by the runtime, without any of its code.
package wasm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/fiberfill/fiberfill/asyncio/actors"
	parser "github.com/fiberfill/fiberfill/internal/wasm"
)

// The reasons why a module is refused, by Compile or at the spawn, or trapped by the host; the errors wrap them.
var (
	ErrModule  = errors.New("not a module that can be an actor")
	ErrImport  = errors.New("imports what is not there")
	ErrExport  = errors.New("exports no handle_message(i32, i64, i32, i32) -> i32")
	ErrRoom    = errors.New("no room in the guest's memory")
	ErrStack   = errors.New("the stack overflowed")
	ErrAddress = errors.New("an address outside the memory")
	ErrOutside = errors.New("called while no handler runs")
)

// Options are what Compile can be told. The zero value suits most.
type Options struct {
	Name    string            // of the module, for messages
	Imports map[string]Import // from "env", beside the mk_ functions
}

// Import is a further function for guests. It may block the actor by the methods of the Host, which return -1 to actors
// without a stack. A panic is a trap. Those methods do not return, but panic, when the actor has been stopped; an
// import that recovers from that has the guest go on.
type Import struct {
	Params, Results []api.ValueType
	// Call finds the parameters in stack and leaves the results there.
	Call func(h *actors.Host, memory api.Memory, stack []uint64)
}

// Module is a compiled module, of which any number of actors can be made.
type Module struct {
	name     string
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	pointer  int32  // the global, -1 if there is no stack, or parser.CannotTell
	exported string // the export that is added for it
	grows    bool   // code of the module grows its memory
}

const handler = "handle_message"

// Compile takes the bytes of a module. The error wraps ErrModule, ErrImport or ErrExport. The caller closes the module
// when its actors are over.
func Compile(ctx context.Context, binary []byte, options Options) (*Module, error) {
	if options.Name == "" {
		options.Name = "the guest"
	}
	m := &Module{name: options.Name, runtime: wazero.NewRuntimeWithConfig(ctx,
		wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2|
			experimental.CoreFeaturesExceptionHandling|experimental.CoreFeaturesTailCall))}
	if err := m.compile(ctx, binary, options); err != nil {
		m.Close()
		return nil, fmt.Errorf("actors: %s: %w", m.name, err)
	}
	return m, nil
}

// Close frees the module. No actor of it may be alive.
func (m *Module) Close() { m.runtime.Close(context.Background()) }

func (m *Module) compile(ctx context.Context, binary []byte, options Options) error {
	var parsed parser.Module
	switch code := parser.Parse(binary, &parsed); code {
	case parser.OK:
	case parser.NotWasm:
		return fmt.Errorf("%w: a wasm file begins with the bytes 00 61 73 6d, this one with % x", ErrModule,
			binary[:min(4, len(binary))])
	default:
		return fmt.Errorf("%w: the parser gives up with error %d at byte %d", ErrModule, code, parsed.At)
	}
	m.pointer, m.grows = parsed.StackPointer(), parsed.Grows()
	if m.pointer >= 0 {
		m.exported = parsed.FreeName("fiberfill:stack_pointer")
		binary = parsed.AppendExport(nil, m.exported, parser.KindGlobal, uint32(m.pointer))
	}
	var err error
	if m.compiled, err = m.runtime.CompileModule(ctx, binary); err != nil {
		return fmt.Errorf("%w: %w", ErrModule, err)
	}
	if f := m.compiled.ExportedFunctions()[handler]; f == nil ||
		!slices.Equal(f.ParamTypes(), []api.ValueType{i32, i64, i32, i32}) ||
		!slices.Equal(f.ResultTypes(), []api.ValueType{i32}) {
		return ErrExport
	}
	return m.provide(ctx, options.Imports)
}

// provide makes the module "env". Whoever calls one of its functions is found by the context of the call.
func (m *Module) provide(ctx context.Context, more map[string]Import) error {
	env := m.runtime.NewHostModuleBuilder("env")
	types := map[string]Import{}
	add := func(name string, f Import, call func(in *instance, stack []uint64)) {
		types[name] = f
		env.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(ctx context.Context, stack []uint64) {
			in, _ := ctx.Value(instanceKey{}).(*instance)
			if in == nil || in.host == nil {
				panic(fmt.Errorf("actors: import env.%s: %w", name, ErrOutside))
			}
			call(in, stack)
		}), f.Params, f.Results).Export(name)
	}
	for name, f := range more {
		add(name, f, func(in *instance, stack []uint64) {
			in.check()
			f.Call(in.host, in.memory, stack)
		})
	}
	for _, f := range imports {
		add(f.name, Import{Params: f.params, Results: f.results}, f.call)
	}
	for _, f := range m.compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		if have, ok := types[name]; module != "env" || !ok {
			return fmt.Errorf("%w: %s.%s", ErrImport, module, name)
		} else if !slices.Equal(f.ParamTypes(), have.Params) || !slices.Equal(f.ResultTypes(), have.Results) {
			return fmt.Errorf("%w: env.%s of another type", ErrImport, name)
		}
	}
	for _, memory := range m.compiled.ImportedMemories() {
		module, name, _ := memory.Import()
		return fmt.Errorf("%w: the memory %s.%s", ErrImport, module, name)
	}
	_, err := env.Instantiate(ctx)
	return err
}
