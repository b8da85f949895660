package e2e_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// These tests do what docs/start.md says, with each of its guests.

// startGuests are its guests: the wasm, and what it is built from.
var startGuests = map[string]string{"guest.wasm": "c", "guest-rust.wasm": "rust"}

// What the page shows is what the wasm in examples is built from.
func TestStartGuests(t *testing.T) {
	for language, file := range map[string]string{"c": "guest.c", "rust": "guest.rs"} {
		if example(t, "docs/start.md", language) != read(t, "examples/start/"+file) {
			t.Errorf("docs/start.md and examples/start/%s differ", file)
		}
	}
}

func TestStartPage(t *testing.T) {
	page := strings.Replace(example(t, "docs/start.md", "html"), scriptTag, "fiberfill.js", 1)
	want := fmt.Sprintf("100 calls at once, %d lines each", strings.Count(page, "\n"))
	for guest := range startGuests {
		startTab(t, want, fstest.MapFS{
			"index.html":   {Data: []byte(page)},
			"fiberfill.js": {Data: []byte(read(t, "web/dist/fiberfill.js"))},
			"guest.wasm":   {Data: []byte(read(t, "examples/start/"+guest))},
		})
	}
}

func TestStartVite(t *testing.T) {
	page := "<!doctype html>\n<body>\n<script type=\"module\" src=\"/src/main.js\"></script>\n</body>\n"
	for guest := range startGuests {
		project := startProject(t, map[string]string{
			"index.html": page, "src/main.js": example(t, "docs/start.md", "js"),
			"public/guest.wasm": read(t, "examples/start/"+guest),
		})
		run := exec.Command(npmTool(t, "node"), npmTool(t, "vite"), "build")
		run.Dir = project
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		built, err := os.ReadFile(filepath.Join(project, "dist", "index.html"))
		if err != nil {
			t.Fatal(err)
		}
		lines := fmt.Sprintf("%d lines", strings.Count(string(built), "\n"))
		startTab(t, lines, os.DirFS(filepath.Join(project, "dist")))
	}
}

func TestStartNode(t *testing.T) {
	for guest := range startGuests {
		startNode(t, startProject(t, map[string]string{
			"main.mjs": example(t, "docs/start.md", "mjs"), "guest.wasm": read(t, "examples/start/"+guest),
		}))
	}
}

// startNode runs the project's main.mjs, whose guest is to count the lines of a text.
func startNode(t *testing.T, project string) {
	t.Helper()
	server := serve(t, func(o *webserver.Options) {
		o.Files["/"] = fstest.MapFS{"text": {Data: []byte("one\ntwo\nthree\n")}}
	})
	run := exec.Command(npmTool(t, "node"), "main.mjs", server.URL+"/text")
	run.Dir = project
	if out, err := run.CombinedOutput(); err != nil || string(out) != "3 lines\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// The page that is all in Go.
func TestStartGo(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	project := startProject(t, map[string]string{"main.go": example(t, "docs/start.md", "go")})
	shell(t, project, lineOf(t, "docs/start.md", "go mod init "))
	// In the place of go get, which would look for the module elsewhere.
	const module = "github.com/fiberfill/fiberfill"
	if line := lineOf(t, "docs/start.md", "go get "); line != "go get "+module+"/asyncio" {
		t.Errorf("it says %q", line)
	}
	shell(t, project, "go mod edit -require="+module+"@v0.0.0 -replace="+module+"="+root)
	for _, begin := range []string{"GOOS=js ", "cp "} {
		shell(t, project, lineOf(t, "docs/start.md", begin))
	}
	page := examples(t, "docs/start.md", "html")[1]
	startTab(t, fmt.Sprintf("100 calls at once, %d lines each", strings.Count(page, "\n")), layers{fstest.MapFS{
		"index.html": {Data: []byte(page)},
	}, os.DirFS(project)})
}

// startTab opens the page in files and waits for its text.
func startTab(t *testing.T, want string, files fs.FS) {
	t.Helper()
	tab := open(t, "index.html", func(o *webserver.Options) { o.Files["/"] = files })
	var got string
	tab.Eval(t, `async () => {
		while (!document.body.textContent.trim()) await new Promise(requestAnimationFrame);
		return document.body.textContent.trim();
	}`, &got)
	if got != want {
		t.Errorf("the page says %q, want %q", got, want)
	}
}

// startProject returns a folder with these files, in which the package is installed.
func startProject(t *testing.T, files map[string]string) string {
	t.Helper()
	project := t.TempDir()
	for name, text := range files {
		path := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(project, "node_modules/fiberfill"), os.DirFS("../web/dist/npm")); err != nil {
		t.Fatal(err)
	}
	return project
}

// npmTool returns the path of a program that package.json pins.
func npmTool(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs("../node_modules/.bin/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
