package guest

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/fiberfill/fiberfill/asyncio"
)

const wasi = wasi_snapshot_preview1.ModuleName

// provide instantiates what the guest imports. It reports whether a fiber may wait. The error names the imports that do
// not exist.
func (g *Guest) provide(ctx context.Context, guest wazero.CompiledModule) (mayWait bool, err error) {
	var system map[string]api.FunctionDefinition
	var missing []string
	var needed []*binding
	if err := g.bindAll(); err != nil {
		return false, err
	}
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
		found, other := slices.Contains(g.options.modules, module), ""
		for _, b := range g.bindings {
			if b.module != module || b.name != name {
				continue
			}
			other = ", which is given as " + b.signature()
			if b.signature() == signature(f) {
				found = true
				mayWait = mayWait || b.waits
				if !slices.Contains(needed, b) {
					needed = append(needed, b)
				}
			}
		}
		if !found {
			missing = append(missing, module+"."+name+signature(f)+other)
		}
	}
	for _, m := range guest.ImportedMemories() {
		module, name, _ := m.Import()
		missing = append(missing, fmt.Sprintf("%s.%s (a memory)", module, name))
	}
	if len(missing) > 0 {
		var have []string
		for _, b := range g.bindings {
			have = append(have, b.module+"."+b.name+b.signature())
		}
		if g.proposal != nil {
			for _, o := range g.proposal.operations {
				have = append(have, "fiberfill/"+g.proposal.name+"."+o.name+o.signature())
			}
		}
		return false, fmt.Errorf("%s imports what is not there: %s; there are %s, and the functions of %s",
			g.options.Name, strings.Join(missing, ", "), strings.Join(have, ", "), wasi)
	}
	err = g.host(ctx, needed)
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
		WithName(""). // otherwise that of its name section, which may be the name of a module that it imports
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

// systemWait is a wait inside a function of WASI, which cannot throw: if the wait is cancelled, the fiber ends there.
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

func (g *Guest) read(at, length uint32) ([]byte, bool) {
	if g.memory == nil {
		return nil, false
	}
	return g.memory.Read(at, length)
}

func (g *Guest) write(at uint32, bytes []byte) bool {
	return g.memory != nil && g.memory.Write(at, bytes)
}
