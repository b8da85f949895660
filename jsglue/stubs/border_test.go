package stubs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/internal/shadow"
	"github.com/fiberfill/fiberfill/internal/wasm"
)

// node returns Node 26, which has the JSPI; NODE26 overrides where it is.
func node(t *testing.T) string {
	path := os.Getenv("NODE26")
	if path == "" {
		path = filepath.Join("..", "..", "node_modules", ".bin", "node")
	}
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("Node 26 is not installed (%v): run `npm ci` in the root of the repository", err)
	}
	return path
}

func read(t testing.TB, path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t testing.TB, path string, b []byte) {
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

func parse(t testing.TB, bin []byte) *wasm.Module {
	t.Helper()
	var m wasm.Module
	if code := wasm.Parse(bin, &m); code != wasm.OK {
		t.Fatalf("Parse: code %d at %d, want OK", code, m.At)
	}
	return &m
}

// waits marks all imports of border.wat but the first.
var waits = []byte{0, 1, 1, 1, 1, 1}

// The guard that stubs look at is the one that regions.ts writes; so is the one that imports which only yield look at.
func TestGuard(t *testing.T) {
	var eight uint64 // bytes of it
	for i := range len(untouched) {
		eight |= uint64(untouched[i]&0x7f) << (7 * i)
	}
	size := fmt.Sprintf("const GUARD = %d;", shadow.Guard)
	var operand []string
	for _, b := range []byte(untouched) {
		operand = append(operand, fmt.Sprintf("%#02x", b))
	}
	for path, wants := range map[string][]string{
		"../src/guest/regions.ts": {size, fmt.Sprintf("Int32Array.of(%#08x, %#08x)", uint32(eight), eight>>32)},
		"../src/turn/room.ts":     {size, "const WORD = [" + strings.Join(operand, ", ") + "];"},
	} {
		source := string(read(t, path))
		for _, want := range wants {
			if !strings.Contains(source, want) {
				t.Errorf("%s does not say %q", path, want)
			}
		}
	}
}

// TestBorder runs testdata/border.mjs on what is generated for testdata/border.wasm, with both kinds of trampolines.
func TestBorder(t *testing.T) {
	dir := t.TempDir()
	guest := parse(t, read(t, "testdata/border.wasm"))
	sp := guest.StackPointer()
	if sp != 1 {
		t.Fatalf("StackPointer() = %d, want 1", sp)
	}
	edited := guest.AppendExport(nil, "pointer", wasm.KindGlobal, uint32(sp))
	write(t, filepath.Join(dir, "guest.wasm"), edited)
	guest = parse(t, edited)
	// What JavaScript generates from is the header that was kept.
	guest = parse(t, guest.Header())
	write(t, filepath.Join(dir, "b.wasm"), AppendStubs(nil, guest, waits, Options{StackPointer: true}))
	write(
		t,
		filepath.Join(dir, "regions.wasm"),
		AppendStubs(nil, guest, waits, Options{StackPointer: true, Regions: true}),
	)
	write(t, filepath.Join(dir, "bare.wasm"), AppendStubs(nil, guest, waits, Options{}))
	write(t, filepath.Join(dir, "worker.wasm"), read(t, "../worker.wasm"))

	for _, tail := range []bool{true, false} {
		write(t, filepath.Join(dir, "a.wasm"), AppendTrampolines(nil, guest, waits, tail))
		runBorder(t, dir)
	}
}

func runBorder(t *testing.T, dir string) {
	t.Helper()
	// The limit is for a stack that is never resumed, which would hang in silence.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node(t), "--test-reporter=tap", "testdata/border.mjs")
	cmd.Env = append(os.Environ(), "BORDER="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !regexp.MustCompile(`(?m)^# pass [1-9]`).Match(out) ||
		regexp.MustCompile(`(?m)^# (skipped|todo) [1-9]`).Match(out) {
		t.Fatalf("not all tests ran:\n%s", out)
	}
}

// The memory that stubs share with the guest is imported as it is: a shared one as shared.
func TestSharedMemory(t *testing.T) {
	guest := parse(t, []byte("\x00asm\x01\x00\x00\x00"+
		"\x05\x04\x01\x03\x01\x02"+ // one memory of 1 to 2 pages, shared
		"\x07\x0a\x01\x06memory\x02\x00"))
	path := filepath.Join(t.TempDir(), "b.wasm")
	write(t, path, AppendStubs(nil, guest, nil, Options{StackPointer: true, Regions: true}))
	program := `const { readFileSync } = require("fs");
		const module = new WebAssembly.Module(readFileSync(process.argv[1]));
		const shared = WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory");
		const memory = new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true });
		const pointer = new WebAssembly.Global({ value: "i32", mutable: true }, 0);
		const js = new Proxy({}, { get: () => () => {} });
		const exports = new Proxy({}, { get: (_, name) => (name === "memory" ? memory : pointer) });
		try { new WebAssembly.Instance(module, { js, guest: exports }); } catch (error) {
			if (/memory/.test(error.message)) throw error;
		}
		if (!shared) throw new Error("no memory is imported");`
	if out, err := exec.Command(node(t), "-e", program, path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Values of one type, of whatever exports, cross the border by one function.
func TestOneFunctionForEachType(t *testing.T) {
	guest := parse(t, read(t, filepath.Join("testdata", "border.wasm")))
	b := AppendStubs(nil, guest, waits, Options{})
	for _, name := range []string{"arg:127", "result:127", "arg:126", "arg:124"} {
		if n := strings.Count(string(b), name); n != 1 {
			t.Errorf("%d functions are called %s, want 1", n, name)
		}
	}
}

// A trampoline jumps by a tail call, unless the engine cannot suspend a stack with one on it.
func TestTrampolinesTail(t *testing.T) {
	guest := parse(t, read(t, filepath.Join("testdata", "border.wasm")))
	tail, plain := AppendTrampolines(nil, guest, waits, true), AppendTrampolines(nil, guest, waits, false)
	if len(tail) != len(plain) {
		t.Fatalf("%d bytes with tail calls, %d without", len(tail), len(plain))
	}
	calls := 0
	for i := range tail {
		if tail[i] != plain[i] {
			calls++
			if tail[i] != wasm.OpReturnCallRef || plain[i] != wasm.OpCallRef {
				t.Errorf("byte %d is %#x with tail calls, %#x without", i, tail[i], plain[i])
			}
		}
	}
	if calls != 5 {
		t.Errorf("%d calls differ, want one for each of the 5 imports that wait", calls)
	}
}

// Imports beyond the marks count as 0, and marks beyond the imports as nothing.
func TestMarksOfAnotherLength(t *testing.T) {
	guest := parse(t, read(t, filepath.Join("testdata", "border.wasm")))
	for _, c := range []struct{ marks, same []byte }{
		{[]byte{0, 1}, []byte{0, 1, 0, 0, 0, 0}},
		{nil, []byte{0, 0, 0, 0, 0, 0}},
		{append(bytes.Clone(waits), 1, 1), waits},
	} {
		if !bytes.Equal(AppendTrampolines(nil, guest, c.marks, true), AppendTrampolines(nil, guest, c.same, true)) {
			t.Errorf("the trampolines of %v are not those of %v", c.marks, c.same)
		}
		if !bytes.Equal(AppendStubs(nil, guest, c.marks, Options{}), AppendStubs(nil, guest, c.same, Options{})) {
			t.Errorf("the stubs of %v are not those of %v", c.marks, c.same)
		}
	}
}
