// Package wasm runs a wasm module as the guest of an actor (package actors). The module is straight-line code: it calls
// mk_sleep_ms in the middle of its handler, and thousands of such actors run side by side.
//
//	module, err := wasm.Compile(ctx, binary, wasm.Options{})
//	id, err := runtime.Spawn(module.Guest(), 10, actors.Stack64K)
//
// # The module
//
// It exports handle_message(type i32, source i64, payload i32, size i32) -> i32. From "env" it imports the functions
// that it needs of these:
//
//	mk_send(to i64, type i32, payload i32, size i32) -> i32        mk_sleep_ms(ms i32) -> i32
//	mk_self() -> i64                                               mk_recv(type, buffer, capacity, size i32) -> i32
//	mk_log(level i32, text i32, size i32)                          mk_wait_fd_readable(fd i32, timeout_ms i32) -> i32
//	                                                               mk_wait_fd_writable(fd i32, timeout_ms i32) -> i32
//
// They correspond to the methods of [actors.Host]; examples/c-actor/mk.h describes them for C. An address outside the
// guest's memory is a trap. If the module exports _initialize, it is called first.
//
// # Instances and stacks
//
// Every actor has a [wazero] instance of its own; actors share nothing. The handler runs on a Go coroutine, so a
// suspended handler is a goroutine's stack with wasm frames on it. Compilers keep address-taken locals on a stack in
// linear memory, the shadow stack. When an actor is spawned it gets a region of exactly the size of its class, and its
// stack pointer is set to the region. An actor of class none runs on the module's own stack. A guard lies below each
// region. A handler that has written there traps when it blocks or returns; it can have damaged only its own instance.
//
// The region, and room for payloads, come from the guest's allocator or from memory that is grown, as package shadow
// decides. A module that bears neither can be spawned without a stack and be sent messages without a payload.
//
// # What it costs
//
// An actor costs an instance: its memory, which includes the stack. A switch is a switch of Go coroutines. If a blocked
// guest is dropped, the runtime unwinds it without running any of its code.
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
	"github.com/fiberfill/fiberfill/internal/modules"
	"github.com/fiberfill/fiberfill/internal/shadow"
	parser "github.com/fiberfill/fiberfill/internal/wasm"
)

// Why Compile or a spawn refuses a module, or the host traps a guest. The errors wrap these.
var (
	ErrModule  = errors.New("the module cannot be an actor")
	ErrImport  = errors.New("imports something that the host does not provide")
	ErrExport  = errors.New("exports no handle_message(i32, i64, i32, i32) -> i32")
	ErrRoom    = errors.New("no room in the guest's memory")
	ErrStack   = errors.New("the stack overflowed")
	ErrAddress = errors.New("address outside the memory")
	ErrOutside = errors.New("called while no handler runs")
)

// Options are the options of Compile. The zero value is the default.
type Options struct {
	Name    string            // the module's name in messages; default "the guest"
	Imports map[string]Import // further functions of "env"
}

// Import is a further function for guests. It may block the actor by calling the Host's blocking methods, which return
// -1 for an actor without a stack. A panic is a trap. If the actor is stopped while an import blocks, the Host's method
// panics; if the import recovers, the guest goes on.
type Import struct {
	Params, Results []api.ValueType
	// Call reads the parameters from stack and writes the results there.
	Call func(h *actors.Host, memory api.Memory, stack []uint64)
}

// Module is a compiled module. Any number of actors can be made of it.
type Module struct {
	name     string
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	pointer  int32       // the global, -1 if there is no stack, or parser.CannotTell
	exported string      // the export that is added for it
	plan     shadow.Plan // where stacks and payloads lie
	malloc   string      // the export that allocates, if it does
}

const handler = "handle_message"

// Compile compiles the bytes of a module. The error wraps ErrModule, ErrImport or ErrExport. The caller must close the
// module when its actors are over.
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

// Close frees the module. None of its actors may be alive.
func (m *Module) Close() { m.runtime.Close(context.Background()) }

func (m *Module) compile(ctx context.Context, binary []byte, options Options) error {
	var parsed parser.Module
	switch code := parser.Parse(binary, &parsed); code {
	case parser.OK:
	case parser.NotWasm:
		return fmt.Errorf("%w: a wasm file starts with the bytes 00 61 73 6d, this one with % x", ErrModule,
			binary[:min(4, len(binary))])
	default:
		return fmt.Errorf("%w: the parser stopped with error %d at byte %d", ErrModule, code, parsed.At)
	}
	m.pointer = parsed.StackPointer()
	growth := parsed.Growth()
	export := func(name string, kind byte, index int32) {
		binary = parsed.AppendExport(nil, name, kind, uint32(index))
		parser.Parse(binary, &parsed)
	}
	if m.pointer >= 0 {
		m.exported = parsed.FreeName("fiberfill:stack_pointer")
		export(m.exported, parser.KindGlobal, m.pointer)
	}
	if hidden := shadow.Hidden(&parsed); hidden >= 0 {
		export(shadow.Exposed, parser.KindFunc, hidden)
	}
	// Payloads need room, too, whatever is known of the stack.
	m.plan = shadow.Choose(shadow.Guest{Module: &parsed, Pointer: max(m.pointer, -1), Growth: growth},
		shadow.Wish{Own: true, Allocator: -1})
	if m.plan.Source == shadow.FromAllocator {
		m.malloc = string(parsed.Name(parsed.Exports[m.plan.Allocator.Export]))
	}
	var err error
	if m.compiled, err = modules.Compile(ctx, m.runtime, binary); err != nil {
		return fmt.Errorf("%w: %w", ErrModule, err)
	}
	if f := m.compiled.ExportedFunctions()[handler]; f == nil ||
		!slices.Equal(f.ParamTypes(), []api.ValueType{i32, i64, i32, i32}) ||
		!slices.Equal(f.ResultTypes(), []api.ValueType{i32}) {
		return ErrExport
	}
	return m.provide(ctx, options.Imports)
}

// provide makes the module "env". Its functions find the calling instance in the context of the call.
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
			in.check(true)
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
			return fmt.Errorf("%w: env.%s has another type", ErrImport, name)
		}
	}
	for _, memory := range m.compiled.ImportedMemories() {
		module, name, _ := memory.Import()
		return fmt.Errorf("%w: the memory %s.%s", ErrImport, module, name)
	}
	_, err := env.Instantiate(ctx)
	return err
}
