package guest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/leaktest"
)

const binds = "testdata/binds.wasm"

// host returns imports for binds.wat, with lookup in the place of the one that the test is about.
func host(lookup any) Imports {
	return Imports{"host": {
		"mix": func(a int32, b uint64, c float32, d float64) int64 {
			return int64(a) + int64(b) + int64(c+float32(d))
		},
		"both":   func(a uint32, b int64) (uint32, float64, error) { return a + 1, float64(b) / 2, nil },
		"lookup": lookup,
	}}
}

// answer writes the number that a text ends with, when all that ask have come.
func answer(all int) func(f *Fiber, text string, at uint32) error {
	come := 0
	return func(f *Fiber, text string, at uint32) error {
		come++
		for come < all {
			if err := f.Yield(); err != nil {
				return err
			}
		}
		var n byte
		fmt.Sscanf(text, "number %d", &n)
		f.Call.Write(at, []byte{n, 0, 0, 0})
		return nil
	}
}

func TestImports_have_the_types_of_the_guest(t *testing.T) {
	g := load(t, binds, Options{Imports: host(answer(1))})
	for _, c := range []struct {
		export string
		args   []any
		want   string
	}{
		{"mix", []any{-1, 10, float32(1.5), 2.5}, "[13]"},
		{"mix", []any{uint32(1<<32 - 1), int64(-10), float32(1), 1.0}, "[-9]"},
		{"both", []any{1<<31 - 1, -7}, "[-2147483648 -3.5]"},
		{"ask", []any{"number 7"}, "[7]"},
		{"ask", []any{[]byte("number 8")}, "[8]"},
	} {
		call, err := g.Go(c.export, c.export, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		g.Run()
		if got := fmt.Sprint(call.Results); got != c.want || call.Err != nil {
			t.Errorf("%s%v = %s, %v; want %s", c.export, c.args, got, call.Err, c.want)
		}
	}
}

func TestArguments_of_the_wrong_type_are_refused(t *testing.T) {
	g := load(t, binds, Options{Imports: host(answer(1))})
	for want, args := range map[string][]any{
		"-> i64: argument 1, 1 of type int64, does not fit a parameter of type i32": {int64(1)},
		"argument 1, 4294967296 of type int, does not fit a parameter of type i32":  {1 << 32},
		"argument 3, 1 of type float64, does not fit":                               {1, 1, 1.0, 1.0},
		"argument 1 is a string, which takes two parameters of type i32":            {"text"},
		"argument 1, <nil> of type <nil>, does not fit":                             {nil},
		"argument 5 is one too many": {1, 1,
			float32(1), 1.0, 1},
		"too few arguments, there is none for f32, f64": {1, 1},
	} {
		if _, err := g.Go("mix", "mix", args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}

// What an import writes after its wait reaches the stack of its own call, however the stacks are kept.
func TestImports_write_to_their_callers_stack(t *testing.T) {
	const calls = 20
	for _, source := range []Source{Grow, Copy} {
		g := load(t, binds, Options{Imports: host(answer(calls)), Stacks: Stacks{Source: source}})
		var list []*Call
		for i := range calls {
			list = append(list, call(t, g, fmt.Sprint(i), "ask", fmt.Sprint("number ", i)))
		}
		g.Run()
		for i, c := range list {
			c.want(t, fmt.Sprint(i))
		}
	}
}

// Read and Write see one memory, also across the edges of the part that is copied out.
func TestImports_read_what_they_write(t *testing.T) {
	for _, source := range []Source{Grow, Copy} {
		g := load(t, binds, Options{Stacks: Stacks{Source: source}, Imports: host(func(f *Fiber, _ []byte,
			at uint32) error {
			from := at - 40
			want := []byte(strings.Repeat("0123456789", 8)[:56])
			f.Call.Write(from, want)
			if got := f.Call.Read(from, 56); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: read %q", source, got)
			}
			return nil
		})})
		c := call(t, g, "ask", "ask", "text:")
		g.Run()
		c.want(t, fmt.Sprint(int32('0')|'1'<<8|'2'<<16|'3'<<24))
	}
}

// The error of an import is an exception in the guest, and the reason of the call's failure.
func TestImports_errors_are_exceptions(t *testing.T) {
	failure := errors.New("there is no such thing")
	g := load(t, binds, Options{Imports: host(func(string, uint32) error { return failure })})
	c := call(t, g, "f", "ask_or_clean", "x")
	g.Run()
	if !errors.Is(c.Err, failure) || c.State != Failed || g.module.ExportedGlobal("cleaned").Get() != 1 {
		t.Errorf("%s, %v", c.State, c.Err)
	}
}

func TestImports_panics_and_bad_addresses_end_one_call(t *testing.T) {
	failure := errors.New("a bug")
	var g *Guest
	for want, c := range map[string]struct {
		export string
		lookup any
	}{
		"a bug":  {"ask", func(*Fiber, string, uint32) error { panic(failure) }},
		" a bug": {"ask", func(*Call, string, uint32) { panic(failure) }},
		"host.lookup: the guest has passed 16 bytes at 4294967288, which are outside its memory": {"astray", answer(1)},
		"host.lookup: the guest has passed 4 bytes at 4294967294, which are outside its memory": {"astray_answer",
			answer(1)},
	} {
		g = load(t, binds, Options{Imports: host(c.lookup)})
		args := []any{"x"}
		if c.export != "ask" {
			args = nil
		}
		bad, err := g.Go("bad", c.export, args...)
		if err != nil {
			t.Fatal(err)
		}
		good := call(t, g, "good", "both", "1", "2")
		g.Run()
		var trap *TrapError
		if !errors.As(bad.Err, &trap) || !strings.Contains(bad.Err.Error(), strings.TrimSpace(want)) {
			t.Errorf("%v, want a trap: %s", bad.Err, want)
		}
		good.want(t, "2 1")
	}
}

func TestImports_that_cannot_be_are_refused(t *testing.T) {
	for want, imports := range map[string]Imports{
		"import a.b: it must be a function, and is int":             {"a": {"b": 1}},
		"import a.b: it must be a function, and is <nil>":           {"a": {"b": nil}},
		"import a.b: it may wait, and must return an error":         {"a": {"b": func(*Fiber) {}}},
		"its parameter of type int is none of int32":                {"a": {"b": func(int) {}}},
		"its parameter of type *guest.Fiber is none":                {"a": {"b": func(int32, *Fiber) {}}},
		"its result of type string is none of":                      {"a": {"b": func() string { return "" }}},
		"its parameters must be of fixed number":                    {"a": {"b": func(...int32) {}}},
		"imports of fiberfill are not the user's to give":           {"fiberfill": {}},
		"imports of fiberfill/fibers1 are not":                      {"fiberfill/fibers1": {}},
		"imports of wasi_snapshot_preview1 are not":                 {wasi: {}},
		"some.wasm imports what is not there: fiberfill.yield(i32)": nil,
	} {
		module := "\x00asm\x01\x00\x00\x00" + section(1, "\x01\x60\x01\x7f\x00") +
			section(2, "\x01\x09fiberfill\x05yield\x00\x00")
		_, err := New(t.Context(), []byte(module), Options{Name: "some.wasm", Imports: imports})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Goroutines call exports of one instance while it serves. Each call is cancelled with its context.
func TestServe(t *testing.T) {
	const calls = 100
	ctx, stop := context.WithCancelCause(t.Context())
	reason, leaves := errors.New("closing time"), errors.New("the client has gone")
	started := make(chan struct{}, 2)
	all := answer(calls)
	g := loadWith(t, ctx, binds, Options{Imports: host(func(f *Fiber, text string, at uint32) error {
		if text == "forever" {
			started <- struct{}{}
			return asyncio.Sleep(f, time.Hour)
		}
		return all(f, text, at)
	})})
	served := make(chan error, 1)
	go func() { served <- g.Serve() }()
	var callers sync.WaitGroup
	for i := range calls {
		callers.Go(func() {
			results, err := g.Call(t.Context(), "ask", fmt.Sprint("number ", i))
			if err != nil || len(results) != 1 || results[0] != int32(i) {
				t.Errorf("%v, %v, want %d", results, err, i)
			}
		})
	}
	callers.Wait()
	if _, err := g.Call(t.Context(), "absent"); err == nil || !strings.Contains(err.Error(), "exports no function") {
		t.Error(err)
	}

	own, cancel := context.WithCancelCause(t.Context())
	go func() { <-started; cancel(leaves) }()
	if _, err := g.Call(own, "ask_or_clean", "forever"); err != leaves {
		t.Errorf("a cancelled call: %v", err)
	}
	go func() { <-started; stop(reason) }()
	if _, err := g.Call(t.Context(), "ask_or_clean", "forever"); err != reason {
		t.Errorf("a call at the end: %v", err)
	}
	if err := <-served; err != reason {
		t.Errorf("Serve() = %v", err)
	}
	if cleaned := g.module.ExportedGlobal("cleaned").Get(); cleaned != 2 {
		t.Errorf("the guest has cleaned up %d times, want 2", cleaned)
	}
	if _, err := g.Call(t.Context(), "ask", "number 1"); err != reason {
		t.Errorf("a late call: %v", err)
	}
}

func TestServe_of_a_guest_whose_initialize_fails(t *testing.T) {
	leaktest.Goroutines(t)
	module := "\x00asm\x01\x00\x00\x00" + section(1, "\x01\x60\x00\x00") + section(3, "\x01\x00") +
		section(7, "\x01\x0b_initialize\x00\x00") + section(10, "\x01\x03\x00\x00\x0b")
	g, err := New(t.Context(), []byte(module), Options{Name: "some.wasm"})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	failure := g.Serve()
	var trap *TrapError
	if _, err := g.Call(t.Context(), "_initialize"); !errors.As(failure, &trap) || err != failure {
		t.Errorf("Serve() = %v, Call() = %v", failure, err)
	}
}

// A panic in an import says where it was, and its message is one line.
func TestImports_that_panic(t *testing.T) {
	for name, lookup := range map[string]any{
		"waits":       func(f *Fiber, text string, at uint32) error { return blowUp() },
		"has waited":  func(f *Fiber, text string, at uint32) error { f.Yield(); return blowUp() },
		"never waits": func(text string, at uint32) error { return blowUp() },
		"knows":       func(c *Call, text string, at uint32) error { return blowUp() },
	} {
		g := load(t, binds, Options{Imports: host(lookup)})
		c, err := g.Go("one", "ask", "x")
		if err != nil {
			t.Fatal(err)
		}
		other, err := g.Go("other", "both", 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		g.Run()
		const want = "fiber one trapped in export ask: import host.lookup panicked: assignment to entry in nil map"
		trap, panicked := (*TrapError)(nil), (*asyncio.PanicError)(nil)
		if !errors.As(c.Err, &trap) || c.Err.Error() != want {
			t.Errorf("%s: %v, want %s", name, c.Err, want)
		}
		if !errors.As(c.Err, &panicked) || !strings.Contains(string(panicked.Stack), ".blowUp(") {
			t.Errorf("%s: no stack with the function that panicked", name)
		}
		if other.Err != nil {
			t.Errorf("%s: the other call ended with %v", name, other.Err)
		}
	}
}

func blowUp() error {
	var m map[string]int
	m["x"] = 1
	return nil
}

// Run ends when the calls wait for something that nobody else can bring, and says what that is.
func TestRun_deadlock(t *testing.T) {
	never := asyncio.NewChan[int](0)
	g := load(t, binds, Options{Imports: host(func(f *Fiber, text string, at uint32) error {
		_, _, err := never.Receive(f)
		return err
	})})
	c, err := g.Go("one", "ask", "x")
	if err != nil {
		t.Fatal(err)
	}
	g.Run()
	var d *asyncio.DeadlockError
	if !errors.As(c.Err, &d) || !strings.Contains(c.Err.Error(), "one (waits for a channel to receive from)") {
		t.Errorf("%v, want a deadlock", c.Err)
	}
}

func TestImports_that_cannot_be_say_what_to_write(t *testing.T) {
	for want, lookup := range map[string]any{
		"lookup: its parameter of type context.Context is none of int32": func(context.Context, string, uint32) error {
			return nil
		},
		"A function that may wait takes a *guest.Fiber first, which is a context": func(*asyncio.Fiber) error {
			return nil
		},
	} {
		binary, err := os.ReadFile(binds)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(t.Context(), binary, Options{Imports: host(lookup)}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// An import that calls its own guest would wait for itself.
func TestCall_from_an_import_is_refused(t *testing.T) {
	var g *Guest
	g = load(t, binds, Options{Imports: host(func(f *Fiber, text string, at uint32) error {
		ctx, cancel := context.WithCancel(f)
		defer cancel()
		_, err := g.Call(ctx, "both", 1, 2)
		return err
	})})
	c, err := g.Go("one", "ask", "x")
	if err != nil {
		t.Fatal(err)
	}
	g.Run()
	const want = `import, which fiber one has called: the guest would wait for itself`
	if c.Err == nil || !strings.Contains(c.Err.Error(), want) {
		t.Errorf("%v, want %q", c.Err, want)
	}
}

// An import of another type than the guest's is told, with its type.
func TestImports_of_another_type(t *testing.T) {
	binary, err := os.ReadFile(binds)
	if err != nil {
		t.Fatal(err)
	}
	const want = "host.lookup(i32, i32, i32), which is given as (i32, i32)"
	_, err = New(t.Context(), binary, Options{Imports: host(func(text string) error { return nil })})
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
