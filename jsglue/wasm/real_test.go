package wasm

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// tool returns the path of something that npm has installed.
func tool(t *testing.T, path ...string) string {
	p, err := filepath.Abs(filepath.Join(append([]string{"..", "..", "node_modules"}, path...)...))
	if err == nil {
		_, err = os.Stat(p)
	}
	if err != nil {
		t.Fatalf("%v: run `npm ci` in the root of the repository", err)
	}
	return p
}

// wazero, too, must find what is generated valid. (It does not know the type noexn, with which Binaryen writes a null exnref in
// worker.wasm; TestBorder runs that in Node.)
func TestValidInWazero(t *testing.T) {
	ctx := context.Background()
	config := wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2 |
		experimental.CoreFeaturesExceptionHandling | experimental.CoreFeaturesTailCall | experimental.CoreFeaturesTypedFunctionReferences)
	r := wazero.NewRuntimeWithConfig(ctx, config)
	defer r.Close(ctx)
	valid := func(what string, bin []byte) {
		if _, err := r.CompileModule(ctx, bin); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, path := range []string{"testdata/plain.wasm", tool(t, "sql.js", "dist", "sql-wasm.wasm")} {
		m := parse(t, read(t, path))
		marks := bytes.Repeat([]byte{1}, len(m.funcs))
		for _, tail := range []bool{true, false} {
			valid("A of "+path, m.AppendTrampolines(nil, marks, tail))
			valid("A without waits of "+path, m.AppendTrampolines(nil, nil, tail))
		}
		for _, opt := range []StubOptions{{}, {StackPointer: true}, {StackPointer: true, Copies: true}, {StackPointer: true, Regions: true}} {
			valid("B of "+path, m.AppendStubs(nil, marks, opt))
			valid("B without waits of "+path, m.AppendStubs(nil, nil, opt))
		}
		valid(path+" edited", m.AppendExport(nil, "one more", KindMemory, 0))
	}
}

// A module as Emscripten writes it, stripped of names.
func TestSQLJS(t *testing.T) {
	m := parse(t, read(t, tool(t, "sql.js", "dist", "sql-wasm.wasm")))
	sp := m.StackPointer()
	if sp < 0 || !m.MutableI32(uint32(sp)) {
		t.Errorf("StackPointer() = %d", sp)
	}
	if !m.Grows() {
		t.Error("Grows() = false; JavaScript grows its memory, and its allocator hands out what it finds")
	}
	exercise(t, m)
}

// The name section tells the stack pointer, and so does the header that is kept.
func TestPlain(t *testing.T) {
	m := parse(t, read(t, "testdata/plain.wasm"))
	if sp := m.StackPointer(); sp != 1 {
		t.Errorf("StackPointer() = %d, want 1", sp)
	}
	exercise(t, m)
}

// Each binary is what its recipe makes of the text beside it.
func TestRecipes(t *testing.T) {
	recipe := regexp.MustCompile(`(?m)^;;\s+wasm-as (.*) (\S+\.wat) -o (\S+\.wasm)$`)
	texts, _ := filepath.Glob("testdata/*.wat")
	for _, path := range append(texts, "../worker.wat") {
		found := recipe.FindStringSubmatch(string(read(t, path)))
		if found == nil {
			t.Errorf("%s: no recipe", path)
			continue
		}
		made := filepath.Join(t.TempDir(), found[3])
		cmd := exec.Command(node(t), append([]string{tool(t, "binaryen", "bin", "wasm-as")}, append(strings.Fields(found[1]), path, "-o", made)...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
			continue
		}
		if !bytes.Equal(read(t, made), read(t, filepath.Join(filepath.Dir(path), found[3]))) {
			t.Errorf("%s is not what its recipe makes", found[3])
		}
	}
}
