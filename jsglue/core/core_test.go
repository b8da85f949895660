package main

// The committed core.wasm must be rebuilt with `make core` whenever the sources of polyfill, asyncio, internal/wasm,
// jsglue/stubs or jsglue/core change: these tests run what pages load, not what stands in the sources.

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/schedtest"
	"github.com/fiberfill/fiberfill/polyfill"
)

//go:embed core.wasm
var coreWasm []byte

// shipped is the scheduler in core.wasm, behind the wire contract of main.go. A trap in it is fatal to the test.
type shipped struct {
	t      *testing.T
	module api.Module
	funcs  map[string]api.Function
}

// compile makes a runtime and compiles the core in it; the caller makes instances.
func compile(t *testing.T) (wazero.Runtime, wazero.CompiledModule) {
	ctx := context.Background()
	runtime := wazero.NewRuntime(ctx)
	t.Cleanup(func() { runtime.Close(ctx) })
	module, err := runtime.CompileModule(ctx, coreWasm)
	if err != nil {
		t.Fatalf("core.wasm: %v", err)
	}
	return runtime, module
}

func open(t *testing.T, runtime wazero.Runtime, compiled wazero.CompiledModule) *shipped {
	ctx := context.Background()
	// A reactor: _initialize sets the Go runtime up and must run before everything else.
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize")
	module, err := runtime.InstantiateModule(ctx, compiled, config)
	if err != nil {
		t.Fatalf("core.wasm: %v", err)
	}
	t.Cleanup(func() { module.Close(ctx) })
	if module.ExportedFunction("_initialize") == nil {
		t.Fatal("core.wasm has no _initialize")
	}
	return &shipped{t, module, map[string]api.Function{}}
}

func (s *shipped) call(name string, args ...uint64) uint64 {
	var stack [4]uint64
	copy(stack[:], args)
	f := s.funcs[name]
	if f == nil {
		if f = s.module.ExportedFunction(name); f == nil {
			s.t.Fatalf("core.wasm does not export %s", name)
		}
		s.funcs[name] = f
	}
	if err := f.CallWithStack(context.Background(), stack[:]); err != nil {
		s.t.Fatalf("the core trapped in %s%v: %v", name, args, err)
	}
	return stack[0]
}

func (s *shipped) fiber(name string, args ...uint64) polyfill.Fiber {
	return polyfill.Fiber(uint32(s.call(name, args...)))
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

var f64 = api.EncodeF64

func (s *shipped) command(export string, args ...uint64) asyncio.Command {
	return asyncio.Command(s.fiber(export, args...))
}

func (s *shipped) Init(budget float64, soft, hard int32) {
	s.call("init", f64(budget), api.EncodeI32(soft), api.EncodeI32(hard))
}
func (s *shipped) Spawn() polyfill.Fiber { return s.fiber("spawn") }
func (s *shipped) Limit(soft, hard int32) {
	s.call("limit", uint64(uint32(soft)), uint64(uint32(hard)))
}
func (s *shipped) Stalled() bool { return s.call("stalled") != 0 }
func (s *shipped) Begin() (polyfill.Fiber, bool) {
	f := s.fiber("begin")
	return f, f != 0 && s.fiber("running") == f
}
func (s *shipped) Wait(now float64) asyncio.Command  { return s.command("wait", f64(now)) }
func (s *shipped) Yield(now float64) asyncio.Command { return s.command("yield", f64(now)) }
func (s *shipped) Turn(now float64) asyncio.Command  { return s.command("turn", f64(now)) }
func (s *shipped) Wanted() bool                      { return s.call("wanted") != 0 }
func (s *shipped) Live() int                         { return int(int32(s.call("live"))) }
func (s *shipped) StartLog()                         { s.call("log_start") }
func (s *shipped) Drop(f polyfill.Fiber) bool        { return s.call("drop", uint64(f)) != 0 }

func (s *shipped) Sleep(until, now float64) asyncio.Command {
	return s.command("sleep", f64(until), f64(now))
}

func (s *shipped) Finish(trap bool, now float64) asyncio.Command {
	return s.command("finish", bit(trap), f64(now))
}

func (s *shipped) Notify(f polyfill.Fiber, wait uint32) bool {
	return s.call("notify", uint64(f), uint64(wait)) != 0
}

func (s *shipped) Deadline() (float64, bool) {
	at := api.DecodeF64(s.call("deadline"))
	return max(at, 0), at >= 0
}

func (s *shipped) Log() (log []asyncio.Record) {
	for {
		entry := uint64(api.DecodeF64(s.call("log", uint64(len(log)))))
		if entry == 0 {
			return log
		}
		log = append(log, asyncio.Record{Event: asyncio.Event(entry >> 32), Fiber: polyfill.Fiber(entry)})
	}
}

// The whole specification of the scheduler, on the core that is shipped.
func TestShippedCore(t *testing.T) {
	runtime, compiled := compile(t)
	schedtest.Run(t, func(t *testing.T) schedtest.Unused { return open(t, runtime, compiled) })
}

// plain is the same scheduler as Go runs it.
type plain struct{ asyncio.Scheduler }

func (p *plain) Live() int { return p.Machine.Live() }

// The sources and the shipped core give the same answers and the same log.
func TestShippedCoreAgainstSource(t *testing.T) {
	runtime, compiled := compile(t)
	for range 8 {
		schedtest.Differential(t, new(plain), open(t, runtime, compiled), 30_000)
	}
}

// A step of a fiber when none runs is a bug of the glue. The core stops at once instead of going on with wrong counts.
func TestStepWithoutFiberTraps(t *testing.T) {
	runtime, compiled := compile(t)
	for _, name := range []string{"wait", "yield", "sleep", "finish"} {
		s := open(t, runtime, compiled)
		s.Init(8, 1, 1)
		s.Spawn()
		if err := s.module.ExportedFunction(name).CallWithStack(context.Background(), make([]uint64, 4)); err == nil {
			t.Errorf("%s without a running fiber did not trap", name)
		}
	}
}

// The glue tells the core its budget; a Go program in a page leaves the page as much.
func TestBudgetOfTheGlue(t *testing.T) {
	source, err := os.ReadFile("../src/turn/budget.ts")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("export const BUDGET = %d;", asyncio.DefaultBudget)
	if !strings.Contains(string(source), want) {
		t.Errorf("budget.ts does not say %q", want)
	}
}

// The core imports nothing: it can run before and without everything else.
func TestCoreImportsNothing(t *testing.T) {
	_, compiled := compile(t)
	if n := len(compiled.ImportedFunctions()) + len(compiled.ImportedMemories()); n != 0 {
		t.Errorf("core.wasm has %d imports, want none", n)
	}
}

// The names that JavaScript gives the events are those of the scheduler, in its order.
func TestEventNames(t *testing.T) {
	source, err := os.ReadFile("../src/turn/log.ts")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(source), "const EVENTS = [")
	table, _, _ = strings.Cut(table, "] as const")
	event := asyncio.Event(0)
	for _, m := range regexp.MustCompile(`(?m)^  "(\w+)",`).FindAllStringSubmatch(table, -1) {
		if event++; event.String() != m[1] {
			t.Errorf("event %d is %q in JavaScript, %q in Go", event, m[1], event)
		}
	}
	if after := event + 1; event == 0 || after.String() != "" {
		t.Errorf("JavaScript has %d events; Go has %q, too", event, after)
	}
}
