package e2e_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// bundlers is where `go run ./cmd/build install bundlers` installs what testdata/bundlers/package.json pins.
const bundlers = "../.cache/bundlers"

// The package as somebody has it who installs it into an empty project of each bundler: packed by npm, bundled for
// production with the bundler's own settings, and run in a browser. (web/npm/package_test.mjs does the same for Node,
// Deno and Bun, TestReadmePage for the script tag.)
func TestBundlers(t *testing.T) {
	t.Parallel()
	tools, err := filepath.Abs(bundlers)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(tools, "node_modules/webpack")); err != nil {
		t.Fatalf("%v: go run ./cmd/build install bundlers", err)
	}
	pack := exec.Command("npm", "pack", "--silent", "--pack-destination", t.TempDir(), "../web/dist/npm")
	name, err := pack.Output()
	if err != nil {
		t.Fatalf("%v: %v", pack.Args, err)
	}
	archive := filepath.Join(pack.Args[4], strings.TrimSpace(string(name)))
	esbuild := filepath.Join(t.TempDir(), "esbuild")
	compile := exec.Command("go", "build", "-o", esbuild, "github.com/evanw/esbuild/cmd/esbuild")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", compile.Args, err, out)
	}
	node := npmTool(t, "node")
	in := func(path string) string { return filepath.Join(tools, "node_modules", path) }
	for _, b := range []struct {
		name    string
		command []string
		script  string // what index.html loads
		out     string // the folder to serve
	}{
		{"Vite", []string{node, npmTool(t, "vite"), "build"}, "./src/main.js", "dist"},
		{"webpack", []string{node, in("webpack/bin/webpack.js"), "--mode=production", "--entry=./src/main.js",
			"--output-path=."}, "main.js", "."},
		{"Rollup", []string{node, in("@rollup/wasm-node/dist/bin/rollup"), "--plugin=@rollup/plugin-node-resolve",
			"--dir=.", "src/main.js"}, "main.js", "."},
		{"esbuild", []string{esbuild, "--bundle", "--minify", "--splitting", "--format=esm", "--outdir=.",
			"src/main.js"}, "main.js", "."},
		{"Parcel", []string{node, in("parcel/lib/bin.js"), "build", "--no-cache", "index.html"},
			"./src/main.js", "dist"},
		{"Next", []string{node, in("next/dist/bin/next"), "build"}, "", "out"},
	} {
		t.Run(b.name, func(t *testing.T) {
			project := emptyProject(t, tools, archive)
			write := func(name, text string) {
				t.Helper()
				path := filepath.Join(project, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			write("src/main.js", read(t, "e2e/testdata/bundlers/main.js"))
			if b.script != "" {
				write("index.html", `<!doctype html><body><script type="module" src="`+b.script+`"></script></body>`)
			} else if err := os.CopyFS(project, os.DirFS("testdata/bundlers/next")); err != nil {
				t.Fatal(err)
			}
			build := exec.Command(b.command[0], b.command[1:]...)
			build.Dir, build.Env = project, append(os.Environ(), "NEXT_TELEMETRY_DISABLED=1", "PARCEL_WORKERS=0")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", build.Args, err, out)
			}
			files := layers{os.DirFS(filepath.Join(project, b.out)), fstest.MapFS{
				"text":         {Data: []byte("one\ntwo\nthree\n")},
				"lines.wasm":   {Data: []byte(read(t, "examples/start/guest.wasm"))},
				"fibers1.wasm": {Data: []byte(read(t, "jsglue/test/testdata/fibers1.wasm"))},
			}}
			tab := open(t, "index.html", func(o *webserver.Options) { o.Files["/"] = files })
			var got string
			tab.Eval(t, `async () => {
				while (!document.querySelector("output")) await new Promise(requestAnimationFrame);
				return document.querySelector("output").textContent;
			}`, &got)
			if want := "[3,3,5050]"; got != want {
				t.Errorf("the page says %s, want %s", got, want)
			}
		})
	}
}

// emptyProject makes a project below the folder of the bundlers, with nothing but the package installed.
func emptyProject(t *testing.T, tools, archive string) string {
	t.Helper()
	project, err := os.MkdirTemp(tools, "project-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(project); err != nil {
			t.Error(err)
		}
	})
	manifest := []byte(`{ "name": "stranger", "private": true, "type": "module" }`)
	if err := os.WriteFile(filepath.Join(project, "package.json"), manifest, 0o644); err != nil {
		t.Fatal(err)
	}
	install := exec.Command("npm", "install", "--offline", "--no-audit", "--no-fund", archive)
	install.Dir = project
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", install.Args, err, out)
	}
	return project
}

// layers is a tree of files in which the first of several trees that has a name provides it.
type layers []fs.FS

func (l layers) Open(name string) (file fs.File, err error) {
	for _, tree := range l {
		if file, err = tree.Open(name); err == nil {
			return file, nil
		}
	}
	return nil, err
}
