package guest

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/fiberfill/fiberfill/asyncio"
)

// waits is the module between a guest and the functions below.
//
//go:embed waits.wasm
var waits []byte

const wasi = wasi_snapshot_preview1.ModuleName

// provided are the imports that waits.wat stands before, and whether a fiber may wait in them.
var provided = []struct {
	module, name, signature string
	mayWait                 bool
}{
	{"env", "fetch_text", "(i32, i32, i32, i32) -> i32", true},
	{"env", "log", "(i32, i32)", false},
	{"fiberfill", "yield", "()", true},
	{"fiberfill", "sleep_ms", "(i32)", true},
}

// provide instantiates what the guest imports. It reports whether a fiber may wait. The error names the imports that do
// not exist.
func (g *Guest) provide(ctx context.Context, guest wazero.CompiledModule) (mayWait bool, err error) {
	var system map[string]api.FunctionDefinition
	var missing []string
	needs := false
	for _, f := range guest.ImportedFunctions() {
		module, name, _ := f.Import()
		if module == wasi {
			if system == nil {
				if system, err = g.system(ctx); err != nil {
					return false, err
				}
			}
			if of, ok := system[name]; !ok || signature(of) != signature(f) {
				missing = append(missing, module+"."+name+signature(f))
			}
			mayWait = mayWait || name == "poll_oneoff" || name == "sched_yield"
			continue
		}
		if found, ok, err := g.proposed(module, name, signature(f)); ok {
			if err != nil {
				return false, err
			}
			if !found {
				missing = append(missing, module+"."+name+signature(f))
			}
			continue
		}
		found := slices.Contains(g.options.modules, module)
		for _, p := range provided {
			if p.module == module && p.name == name && p.signature == signature(f) {
				found, needs = true, true
				mayWait = mayWait || p.mayWait
			}
		}
		if !found {
			missing = append(missing, module+"."+name+signature(f))
		}
	}
	for _, m := range guest.ImportedMemories() {
		module, name, _ := m.Import()
		missing = append(missing, fmt.Sprintf("%s.%s (a memory)", module, name))
	}
	if len(missing) > 0 {
		var have []string
		for _, p := range provided {
			have = append(have, p.module+"."+p.name+p.signature)
		}
		if g.proposal != nil {
			for _, o := range g.proposal.operations {
				have = append(have, "fiberfill/"+g.proposal.name+"."+o.name+o.signature())
			}
		}
		return false, fmt.Errorf("%s imports what is not there: %s; there are %s, and the functions of %s",
			g.options.Name, strings.Join(missing, ", "), strings.Join(have, ", "), wasi)
	}
	if needs {
		err = g.host(ctx)
	}
	if g.proposal != nil && err == nil {
		err = g.proposal.offer(ctx)
	}
	if g.options.more != nil && err == nil {
		err = g.options.more(ctx, g)
	}
	return mayWait, err
}

// system instantiates WASI and returns its functions.
func (g *Guest) system(ctx context.Context) (map[string]api.FunctionDefinition, error) {
	compiled, err := wasi_snapshot_preview1.NewBuilder(g.runtime).Compile(ctx)
	if err != nil {
		return nil, err
	}
	_, err = g.runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig())
	return compiled.ExportedFunctions(), err
}

// config is what WASI shows to the guest. Its sleep and its yield are waits of the fiber.
func (g *Guest) config() wazero.ModuleConfig {
	files := wazero.NewFSConfig()
	for _, m := range g.options.Mounts {
		files = files.WithDirMount(m.Host, m.Guest)
	}
	config := wazero.NewModuleConfig().WithStartFunctions().WithFSConfig(files).
		WithName(""). // else it has the name in its name section, which may be that of what it imports from
		WithArgs(append([]string{g.options.Name}, g.options.Args...)...).
		WithSysWalltime().WithSysNanotime().WithRandSource(rand.Reader).
		WithNanosleep(func(ns int64) {
			g.systemWait("poll_oneoff", func(f *asyncio.Fiber) error { return asyncio.Sleep(f, time.Duration(ns)) })
		}).
		WithOsyield(func() { g.systemWait("sched_yield", (*asyncio.Fiber).Yield) })
	for _, v := range g.options.Env {
		config = config.WithEnv(v.Name, v.Value)
	}
	if g.options.Stdin != nil {
		config = config.WithStdin(g.options.Stdin)
	}
	if g.options.Stdout != nil {
		config = config.WithStdout(g.options.Stdout)
	}
	if g.options.Stderr != nil {
		config = config.WithStderr(g.options.Stderr)
	}
	return config
}

// systemWait is a wait inside a function of WASI, which cannot throw: if it is cancelled the fiber ends there.
func (g *Guest) systemWait(name string, wait func(*asyncio.Fiber) error) {
	c := g.running
	if c == nil {
		return // in the module's start function
	}
	if err := c.wait(wasi+"."+name, func() error { return wait(c.fiber) }); err != nil {
		c.death = err
		panic(err)
	}
}

// host instantiates the functions behind waits.wat, and waits.wat for each of the modules that it stands for.
func (g *Guest) host(ctx context.Context) error {
	builder := g.runtime.NewHostModuleBuilder("host")
	for _, f := range []struct {
		name            string
		params, results int
		function        api.GoFunc
	}{
		{"fetch_text", 4, 2, fetchText},
		{"yield", 0, 1, yield},
		{"sleep_ms", 1, 1, sleep},
		{"log", 2, 0, log},
	} {
		builder.NewFunctionBuilder().WithGoFunction(f.function, i32s(f.params), i32s(f.results)).Export(f.name)
	}
	if _, err := builder.Instantiate(ctx); err != nil {
		return err
	}
	compiled, err := g.runtime.CompileModule(ctx, waits)
	if err != nil {
		return err
	}
	for _, name := range []string{"env", "fiberfill"} {
		if _, err := g.runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(name)); err != nil {
			return err
		}
	}
	return nil
}

// failed returns the last result of a host function that may wait: not 0 if the guest gets an exception.
func (c *Call) failed(name string, err error) uint64 {
	c.threw = nil
	if err == nil {
		return 0
	}
	c.threw = fmt.Errorf("%s: %w", name, err)
	return 1
}

// fetchText is env.fetch_text. It requests a URL by HTTP GET, writes as much of the body as fits to the buffer, and
// returns the length of the whole body in bytes. A status other than 2xx is a failure.
func fetchText(ctx context.Context, stack []uint64) {
	const name = "env.fetch_text"
	c := callOf(ctx, name)
	at, length, buffer, capacity := uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])
	text, ok := c.guest.read(at, length)
	if !ok {
		panic(fmt.Errorf("%s: the URL, %d bytes at %d, is outside the memory", name, length, at))
	}
	url := string(text)
	var response *asyncio.Response
	err := c.wait(name+" "+url, func() (err error) {
		response, err = asyncio.Fetch(c.fiber, url)
		return err
	})
	if err == nil && (response.Status < 200 || response.Status > 299) {
		err = fmt.Errorf("GET %s: %d %s", url, response.Status, http.StatusText(response.Status))
	}
	if err == nil {
		if !c.guest.write(buffer, response.Body[:min(len(response.Body), int(capacity))]) {
			panic(fmt.Errorf("%s: the buffer, %d bytes at %d, is outside the memory", name, capacity, buffer))
		}
		stack[0] = uint64(uint32(len(response.Body)))
	}
	stack[1] = c.failed(name, err)
}

// yield is fiberfill.yield: the other fibers run.
func yield(ctx context.Context, stack []uint64) {
	const name = "fiberfill.yield"
	c := callOf(ctx, name)
	stack[0] = c.failed(name, c.wait(name, c.fiber.Yield))
}

// sleep is fiberfill.sleep_ms. The fiber waits for that many milliseconds; a negative number means 0.
func sleep(ctx context.Context, stack []uint64) {
	const name = "fiberfill.sleep_ms"
	c := callOf(ctx, name)
	ms := api.DecodeI32(stack[0])
	stack[0] = c.failed(name, c.wait(fmt.Sprint(name, " ", ms), func() error {
		return asyncio.Sleep(c.fiber, time.Duration(ms)*time.Millisecond)
	}))
}

// log is env.log, which never waits.
func log(ctx context.Context, stack []uint64) {
	c := callOf(ctx, "env.log")
	if c.guest.options.Log != nil {
		c.guest.options.Log(c, api.DecodeI32(stack[0]), api.DecodeI32(stack[1]))
	}
}

func (g *Guest) read(at, length uint32) ([]byte, bool) {
	if g.memory == nil {
		return nil, false
	}
	return g.memory.Read(at, length)
}

func (g *Guest) write(at uint32, bytes []byte) bool {
	return g.memory != nil && g.memory.Write(at, bytes)
}
