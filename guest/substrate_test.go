package guest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/conformance"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// namesRule matches a reason that is followed by the rule, and perhaps by what to do.
var namesRule = regexp.MustCompile(`^[^\[]+ \[[A-Z]+(-[A-Z]+)?-\d+\](: |$)`)

// substrate plays conformance scripts: every computation is a call of wasm in wazero.
type substrate struct {
	cache wazero.CompilationCache // each script has a guest of its own, and all of them the code
}

func (substrate) Name() string { return "wazero" }

//go:embed testdata/host.wasm
var hostWasm []byte

// provideHost is "host" "call", which calls a function of the guest's back.
func provideHost(ctx context.Context, g *Guest) error {
	call := func(_ context.Context, s []uint64) {
		threw := g.proposal.callBack(s[0], s[1])
		s[0] = 0
		if threw {
			s[0] = 1
		}
	}
	builder := g.runtime.NewHostModuleBuilder("test")
	builder.NewFunctionBuilder().WithGoFunction(api.GoFunc(call), i32s(2), i32s(1)).Export("call")
	_, err := builder.Instantiate(ctx)
	if err == nil {
		_, err = g.runtime.InstantiateWithConfig(ctx, hostWasm, wazero.NewModuleConfig().WithName("host"))
	}
	return err
}

// callBack calls a function of the guest, void (void *), for an import that is not an operation of a proposal: so a
// frame of the host is below that function. It reports whether an exception has left the function; the import then
// throws it on.
func (p *proposal) callBack(function, env uint64) (threw bool) {
	pointer, current := p.guest.stackPointer(), p.current
	call := func() {
		bodies := p.bodies.ExportedFunction("call")
		results, err := bodies.Call(p.context(), function, env)
		if err != nil {
			panic(err)
		}
		p.carrier = bodies
		threw = narrow(results)[0] != 0
	}
	if s, ok := p.system.(*run.Stacks); ok {
		s.Host(call)
	} else {
		call()
	}
	p.current = current
	p.guest.setStackPointer(pointer)
	return threw
}

// Play implements [conformance.Substrate]: player.c says how.
func (w substrate) Play(s conformance.Script) (trace []conformance.Outcome, err error) {
	script, err := conformance.Encode(s)
	if err != nil {
		return nil, err
	}
	g, err := New(context.Background(), conformance.Player(s.System), Options{
		Name: "player.wasm", cache: w.cache, modules: []string{"host"}, more: provideHost,
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		g.Close()
		if live := g.proposal.system.Live(); live != 0 && err == nil {
			err = fmt.Errorf("%d computations are left after Close", live)
		}
		if free, all := len(g.regions.free), len(g.regions.all); free != all && err == nil {
			err = fmt.Errorf("%d of %d regions have not been given back", all-free, all)
		}
	}()
	at, err := enter(g, "script")
	if err != nil {
		return nil, err
	}
	g.memory.Write(at, script)
	left, err := enter(g, "start")
	for err == nil && left > 0 {
		if left, err = enter(g, "play"); err != nil {
			code, reason := codeOf(err)
			if reason != nil {
				return nil, reason
			}
			left, err = enter(g, "trapped", fmt.Sprint(int(code)))
		}
	}
	if err != nil {
		return nil, err
	}
	if at, err = enter(g, "trace"); err != nil {
		return nil, err
	}
	count, err := enter(g, "count")
	if err != nil {
		return nil, err
	}
	bytes, _ := g.memory.Read(at, 40*count)
	return conformance.Decode(bytes)
}

// enter calls an export, and returns its result.
func enter(g *Guest, export string, args ...string) (uint32, error) {
	values, err := g.Parse(export, args)
	if err != nil {
		return 0, err
	}
	c, err := g.Go(export, export, values...)
	if err != nil {
		return 0, err
	}
	g.Run()
	if c.Err != nil {
		return 0, c.Err
	}
	return uint32(c.Results[0].(int32)), nil
}

// codeOf returns the number of the trap that an entry has ended with, or what is wrong about its message.
func codeOf(err error) (polyfill.Trap, error) {
	var trap *TrapError
	if !errors.As(err, &trap) {
		return 0, fmt.Errorf("the entry has not trapped: %w", err)
	}
	var refused *Refused
	if !errors.As(err, &refused) {
		return polyfill.Unreachable, nil
	}
	if !namesRule.MatchString(refused.Reason) || refused.Trap == polyfill.OK {
		return 0, fmt.Errorf("the message names no rule: %w", err)
	}
	return refused.Trap, nil
}
