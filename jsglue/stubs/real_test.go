package stubs

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

	"github.com/fiberfill/fiberfill/internal/wasm"
)

// The modules that the parser is tested with.
const parsed = "../../internal/wasm/testdata/"

var allOptions = []Options{
	{},
	{StackPointer: true},
	{StackPointer: true, Regions: true},
}

// exercise generates everything, with all imports marked as such that may wait. What is generated from a module's
// header is the same.
func exercise(t testing.TB, m *wasm.Module) {
	t.Helper()
	marks := bytes.Repeat([]byte{1}, 1+len(m.Funcs))
	kept := parse(t, m.Header())
	for _, tail := range []bool{true, false} {
		if !bytes.Equal(AppendTrampolines(nil, kept, marks, tail), AppendTrampolines(nil, m, marks, tail)) {
			t.Error("trampolines of the header differ from those of the whole")
		}
	}
	if !bytes.Equal(AppendWaits(nil, kept, marks), AppendWaits(nil, m, marks)) {
		t.Error("waits of the header differ from those of the whole")
	}
	for _, opt := range allOptions {
		if !bytes.Equal(AppendStubs(nil, kept, marks, opt), AppendStubs(nil, m, marks, opt)) {
			t.Error("stubs of the header differ from those of the whole")
		}
	}
}

// What Parse accepts, stubs and trampolines are made for.
func FuzzStubs(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.wasm")
	more, _ := filepath.Glob(parsed + "*.wasm")
	if len(paths) == 0 || len(more) == 0 {
		f.Fatal("no modules in testdata")
	}
	for _, p := range append(paths, more...) {
		f.Add(read(f, p))
	}
	f.Fuzz(func(t *testing.T, bin []byte) {
		var m wasm.Module
		if wasm.Parse(bin, &m) == wasm.OK {
			exercise(t, &m)
		}
	})
}

func TestSQLJS(t *testing.T) {
	exercise(t, parse(t, read(t, tool(t, "sql.js", "dist", "sql-wasm.wasm"))))
}

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

// wazero, too, must find what is generated valid. (It does not know the type noexn, with which Binaryen writes a null
// exnref in worker.wasm; TestBorder runs that in Node.)
func TestValidInWazero(t *testing.T) {
	ctx := context.Background()
	config := wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2 |
		experimental.CoreFeaturesExceptionHandling | experimental.CoreFeaturesTailCall |
		experimental.CoreFeaturesTypedFunctionReferences)
	r := wazero.NewRuntimeWithConfig(ctx, config)
	defer r.Close(ctx)
	valid := func(what string, bin []byte) {
		if _, err := r.CompileModule(ctx, bin); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, path := range []string{parsed + "plain.wasm", tool(t, "sql.js", "dist", "sql-wasm.wasm")} {
		m := parse(t, read(t, path))
		marks := bytes.Repeat([]byte{1}, len(m.Funcs))
		for _, tail := range []bool{true, false} {
			valid("A of "+path, AppendTrampolines(nil, m, marks, tail))
			valid("A without waits of "+path, AppendTrampolines(nil, m, nil, tail))
		}
		for _, opt := range allOptions {
			valid("B of "+path, AppendStubs(nil, m, marks, opt))
			valid("B without waits of "+path, AppendStubs(nil, m, nil, opt))
		}
		valid(path+" edited", m.AppendExport(nil, "one more", wasm.KindMemory, 0))
	}
}

// Each binary is what its recipe makes of the text beside it.
func TestRecipes(t *testing.T) {
	recipe := regexp.MustCompile(`(?m)^;;\s+wasm-as (.*) (\S+\.wat) -o (\S+\.wasm)$`)
	texts, _ := filepath.Glob("testdata/*.wat")
	more, _ := filepath.Glob(parsed + "*.wat")
	for _, path := range append(append(texts, more...), "../worker.wat") {
		found := recipe.FindStringSubmatch(string(read(t, path)))
		if found == nil {
			t.Errorf("%s: no recipe", path)
			continue
		}
		made := filepath.Join(t.TempDir(), found[3])
		cmd := exec.Command(
			node(t),
			append(
				[]string{tool(t, "binaryen", "bin", "wasm-as")},
				append(strings.Fields(found[1]), path, "-o", made)...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
			continue
		}
		if !bytes.Equal(read(t, made), read(t, filepath.Join(filepath.Dir(path), found[3]))) {
			t.Errorf("%s is not what its recipe makes", found[3])
		}
	}
}
