package guest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/leaktest"
)

// What an argument is taken for depends on the export's parameters.
func TestArguments(t *testing.T) {
	g := load(t, cGuest, Options{})
	for _, c := range []struct{ export, args, want string }{
		{"item", "http://host/", "text http://host/"},
		{"item", "17", "too few arguments, there is none for i32 (a number for each; a text, written as text:TEXT"},
		{"item", "text:17", "text 17"},
		{"item", "../17", "text ../17"},
		{"item", "inf", "text inf"},
		{"item", "99999999999 2", `argument 1, "99999999999": it must be a whole number of 32 bits; if it is a`},
		{"item", "1.5 2", `argument 1, "1.5": it must be a whole number of 32 bits; if it is a text, write text:1.5`},
		{"item", "one two", `argument 2, "two", is one too many; "one" was taken as a text, for two parameters`},
		{"item", "1024 17", "1024, 17"},
		{"item", "text:text:17", "text text:17"},
		{"item", "text:", "text "},
		{"sum", "base 0 10", "text base, 0, 10"},
		{"sum", "text:1 2 3", "text 1, 2, 3"},
		{"sum", "text:1 text:2", "text 1, text 2"},
		{"sum", "1 2", "too few arguments, there is none for i32, i32"},
		{"sum", "1 2 3 -1", "1, 2, 3, -1"},
		{"sum", "010 08 -0x10 0X1f", "10, 8, -16, 31"}, // a zero in front does not make a number octal
		{"sum", "1 2 3 1_000", `argument 4, "1_000", is for a parameter of type i32`},
		{"sum", "1 2 3 0x1_0", `argument 4, "0x1_0", is for a parameter of type i32: it must be a number without`},
		{"sum", "1 2 3 0b1", `argument 4, "0b1", is for a parameter of type i32`},
		{"sum", "1 2 3", "too few arguments, there is none for i32"},
		{"sum", "1 2 3 four", `argument 4, "four", is for a parameter of type i32`},
		{"overflow", "four", `argument 1, "four", is for a parameter of type i32`},
	} {
		args, err := g.Parse(c.export, strings.Split(c.args, " "))
		var words []string
		for _, a := range args {
			if text, ok := a.(string); ok {
				words = append(words, "text "+text)
			} else {
				words = append(words, fmt.Sprint(a))
			}
		}
		if got := strings.Join(words, ", "); err != nil && !strings.Contains(err.Error(), c.want) || err == nil &&
			got != c.want {
			t.Errorf("%s %s: %s, %v, want %s", c.export, c.args, got, err, c.want)
		}
	}
}

// Results that are not numbers are printed as their types; a v128 takes two words among the others.
func TestResults(t *testing.T) {
	module := []byte("\x00asm\x01\x00\x00\x00" +
		"\x01\x08\x01\x60\x00\x04\x7f\x7b\x70\x7f" + // () -> i32, v128, funcref, i32
		"\x03\x02\x01\x00" +
		"\x07\x06\x01\x02go\x00\x00" +
		"\x0a\x1c\x01\x1a\x00\x41\x07\xfd\x0c" + strings.Repeat("\x01", 16) + "\xd0\x70\x41\x08\x0b")
	g, err := New(t.Context(), module, Options{Name: "some.wasm"})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	c := call(t, g, "four", "go")
	if c.String() != "" {
		t.Errorf("before it has returned: %q", c)
	}
	g.Run()
	c.want(t, "7 v128 funcref 8")
	if got := g.list(); got != "go() -> i32, v128, funcref, i32" {
		t.Errorf("list() = %s", got)
	}
}

// A text that does not fit on the fiber's stack, or a guest without a stack for it, ends that fiber only.
func TestTextWithoutRoom(t *testing.T) {
	long := strings.Repeat("x", 70000)
	g := load(t, cGuest, Options{})
	c := call(t, g, "long", "item", long)
	after := call(t, g, "after", "yielding", "1")
	g.Run()
	if c.State != Failed ||
		c.Err.Error() != "fiber long cannot start export item: the 70000 bytes of text do not fit on the fiber's "+
			"stack of 65536" {
		t.Errorf("%s, %v", c.State, c.Err)
	}
	after.want(t, "1")

	g = load(t, cGuest, Options{Stacks: Stacks{Pointer: "none"}})
	c = call(t, g, "none", "item", "text:")
	d := call(t, g, "some", "item", "x")
	g.Run()
	if c.State != Failed || !strings.Contains(c.Err.Error(), "unsupported protocol scheme") {
		t.Errorf("an empty text: %s, %v", c.State, c.Err)
	}
	if d.State != Failed || !strings.Contains(d.Err.Error(),
		"knows of no stack in the guest's memory to put it on; if there is one, name by Options.Stacks.Pointer") {
		t.Errorf("%s, %v", d.State, d.Err)
	}
}

// unclear imports yield and has a page of memory and two globals: 0 does not look like a pointer; 1 goes down by 16, in
// go, and is exported twice. text takes an address and a length.
const unclear = "\x00asm\x01\x00\x00\x00" +
	"\x01\x09\x02\x60\x00\x00\x60\x02\x7f\x7f\x00" +
	"\x02\x13\x01\x09fiberfill\x05yield\x00\x00" +
	"\x03\x03\x02\x00\x01" +
	"\x05\x03\x01\x00\x01" +
	"\x06\x0b\x02\x7f\x01\x41\x07\x0b\x7f\x01\x41\x20\x0b" +
	"\x07\x18\x04\x02sp\x03\x01\x03top\x03\x01\x02go\x00\x01\x04text\x00\x02" +
	"\x0a\x10\x02\x0b\x00\x10\x00\x23\x01\x41\x10\x6b\x24\x01\x0b\x02\x00\x0b"

// If the module does not show which global points to the stack, calls run one after another, which is reported once.
func TestUnclearStackPointer(t *testing.T) {
	leaktest.Goroutines(t)
	var told []string
	g, err := New(t.Context(), []byte(unclear), Options{Name: "some.wasm", Warn: func(text string) {
		told = append(told, text)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for range 2 {
		calls := []*Call{call(t, g, "first", "go"), call(t, g, "second", "go"), call(t, g, "third", "go")}
		g.Run()
		for _, c := range calls {
			if c.State != Done {
				t.Errorf("%s: %s, %v", c.Name, c.State, c.Err)
			}
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "some.wasm: its calls run one after another") ||
		!strings.Contains(told[0], "Options.Stacks.Pointer") {
		t.Errorf("told %q", told)
	}
	text := call(t, g, "text", "text", "a text")
	g.Run()
	if text.State != Failed || !strings.Contains(text.Err.Error(), "Options.Stacks.Pointer") {
		t.Errorf("a text: %s, %v", text.State, text.Err)
	}
}

func TestStackPointer(t *testing.T) {
	for pointer, want := range map[string]string{
		"sp":   "1",
		"top":  "1",
		"1":    "1",
		"0":    "0",
		"none": "none",
		"go":   `exports no mutable i32 of this name`,
		"2":    "no such global",
	} {
		leaktest.Goroutines(t)
		g, err := New(t.Context(), []byte(unclear), Options{Name: "some.wasm", Stacks: Stacks{Pointer: pointer}})
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %s", pointer, err, want)
			}
			continue
		}
		defer g.Close()
		got := "none"
		if g.pointer != nil {
			got = map[uint32]string{7: "0", 32: "1"}[g.base]
		}
		if got != want {
			t.Errorf("%q: global %s, want %s", pointer, got, want)
		}
	}
}

// A guest may be called what it imports from: its own name is of no importance to it.
func TestNames(t *testing.T) {
	for _, name := range []string{"env", "fiberfill", "host", wasi} {
		module := []byte("\x00asm\x01\x00\x00\x00" +
			"\x01\x08\x02\x60\x00\x00\x60\x00\x01\x7f" +
			"\x02\x38\x02\x09fiberfill\x05yield\x00\x00\x16wasi_snapshot_preview1\x0bsched_yield\x00\x01" +
			"\x03\x02\x01\x01" +
			"\x07\x06\x01\x02go\x00\x02" +
			"\x0a\x08\x01\x06\x00\x10\x00\x10\x01\x0b" +
			section(0, "\x04name"+section(0, string(rune(len(name)))+name)))
		g, err := New(t.Context(), module, Options{Name: "some.wasm"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		defer g.Close()
		c := call(t, g, "first", "go")
		g.Run()
		c.want(t, "0")
	}
}

// section is one of a module, or of its name section; of less than 128 bytes.
func section(id byte, content string) string {
	return string([]byte{id, byte(len(content))}) + content
}

// A module is refused, too, if the runtime's own validation panics: here a throw names no tag that there is.
func TestModuleThatTheRuntimePanicsOn(t *testing.T) {
	module := "\x00asm\x01\x00\x00\x00" + section(1, "\x01\x60\x00\x00") + section(3, "\x01\x00") +
		section(13, "\x01\x00\x05") + section(10, "\x01\x04\x00\x08\x00\x0b")
	if _, err := New(t.Context(), []byte(module), Options{Name: "some.wasm"}); err == nil ||
		!strings.HasPrefix(err.Error(), "wazero, the runtime, refuses some.wasm: it is not valid: ") {
		t.Error(err)
	}
}

// If _initialize fails no other fiber starts, in the next Run neither.
func TestInitializeFails(t *testing.T) {
	module := []byte("\x00asm\x01\x00\x00\x00" +
		"\x01\x04\x01\x60\x00\x00" +
		"\x03\x03\x02\x00\x00" +
		"\x07\x14\x02\x0b_initialize\x00\x00\x02go\x00\x01" +
		"\x0a\x08\x02\x03\x00\x00\x0b\x02\x00\x0b")
	var ended []string
	g, err := New(t.Context(), module, Options{Name: "some.wasm", Ended: func(c *Call) {
		ended = append(ended,
			fmt.Sprint(c.Name, " ", c.State))
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	c := call(t, g, "first", "go")
	g.Run()
	next := call(t, g, "second", "go")
	g.Run()
	for _, c := range []*Call{c, next} {
		if trap := (*TrapError)(nil); !errors.As(c.Err, &trap) || trap.Fiber != "_initialize" {
			t.Errorf("%s: %v", c.Name, c.Err)
		}
	}
	if fmt.Sprint(ended) != "[_initialize failed first cancelled second cancelled]" {
		t.Error(ended)
	}
}

// Memory that is too small for all fibers ends the fibers that have no room.
func TestNoRoom(t *testing.T) {
	binary, err := os.ReadFile(stacks)
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []Source{Allocator, Grow} {
		// of 64 MB
		g, err := New(t.Context(), binary, Options{Name: stacks, Imports: Page(nil), Stacks: Stacks{Source: source,
			Size: 1 << 20}})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		var calls []*Call
		for i := range 100 {
			calls = append(calls, call(t, g, fmt.Sprint("keep#", i), "keep", "5", "3"))
		}
		g.Run()
		done := 0
		for _, c := range calls {
			if c.State == Done {
				done++
			} else if !strings.Contains(c.Err.Error(), "no room for one more shadow stack of 1048576 bytes") {
				t.Errorf("%s: %v", source, c.Err)
			}
		}
		if done < 50 || done == len(calls) {
			t.Errorf("%s: %d fibers had room, want some 60: those that end early leave theirs", source, done)
		}
	}
}

// A malloc that returns -1 for want of room gives no stack. Adding 15 to align that result would give an address at the
// beginning of the memory.
func TestMallocReturnsMinusOne(t *testing.T) {
	module := []byte("\x00asm\x01\x00\x00\x00" +
		section(1, "\x03\x60\x00\x00\x60\x01\x7f\x01\x7f\x60\x01\x7f\x00") +
		section(2, "\x01\x09fiberfill\x05yield\x00\x00") +
		section(3, "\x03\x00\x01\x02") +
		section(5, "\x01\x00\x02") +
		section(6, "\x01\x7f\x01\x41\x80\x80\x04\x0b") +
		section(7, "\x04\x02go\x00\x01\x06malloc\x00\x02\x04free\x00\x03\x0f__stack_pointer\x03\x00") +
		section(10, "\x03\x04\x00\x10\x00\x0b\x04\x00\x41\x7f\x0b\x02\x00\x0b"))
	g, err := New(t.Context(), module, Options{Name: "some.wasm"})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	c := call(t, g, "first", "go")
	g.Run()
	if c.State != Failed || !strings.Contains(fmt.Sprint(c.Err),
		"malloc(65552) has returned 4294967295") {
		t.Errorf("%s, %v", c.State, c.Err)
	}
}
