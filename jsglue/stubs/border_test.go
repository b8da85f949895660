package stubs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

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

// The guard that stubs look at is the one that regions.ts writes.
func TestGuard(t *testing.T) {
	var eight uint64 // bytes of it
	for i := range len(untouched) {
		eight |= uint64(untouched[i]&0x7f) << (7 * i)
	}
	source := string(read(t, "../src/guest/regions.ts"))
	for _, want := range []string{
		fmt.Sprintf("const GUARD = %d;", guardSize),
		fmt.Sprintf("Int32Array.of(%#08x, %#08x)", uint32(eight), eight>>32),
	} {
		if !strings.Contains(source, want) {
			t.Errorf("regions.ts does not say %q", want)
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
		filepath.Join(dir, "copies.wasm"),
		AppendStubs(nil, guest, waits, Options{StackPointer: true, Copies: true}),
	)
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
