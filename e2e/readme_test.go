package e2e_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// The first page that README.md shows, letter by letter: what a reader copies works.
func TestReadmePage(t *testing.T) {
	page := example(t, "html")
	tab := open(t, "index.html", func(o *webserver.Options) {
		o.Files = map[string]fs.FS{"/": fstest.MapFS{
			"index.html":   {Data: []byte(page)},
			"fiberfill.js": {Data: []byte(read(t, "../web/dist/fiberfill.js"))},
			"guest.wasm":   {Data: []byte(read(t, "../examples/c-fetch/guest.wasm"))},
		}}
	})
	var got string
	tab.Eval(t, `async () => {
		while (!document.body.textContent) await new Promise(requestAnimationFrame);
		return document.body.textContent;
	}`, &got)
	sum := uint64(0)
	for id := range uint64(1000) {
		sum += webserver.Value(id)
	}
	if want := fmt.Sprintf("1000 fibers, sum %d", sum); got != want {
		t.Errorf("the page says %q, want %q", got, want)
	}
}

// The README's Go program, built and run against a real server.
func TestReadmeGoProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(program, []byte(example(t, "go")), 0o644); err != nil {
		t.Fatal(err)
	}
	server := serve(t)
	run := exec.Command("go", "run", program, server.URL+"/item?id=1", server.URL+"/item?id=2&fail=100")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", run.Args, err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	if len(lines) != 2 || !strings.Contains(lines[0], "/item?id=1 200 ") ||
		!strings.Contains(lines[1], "/item?id=2&fail=100 500 ") {
		t.Errorf("%v printed\n%s", run.Args, out)
	}
}

// The README's generator is the guest in examples, and adds up.
func TestReadmeGenerator(t *testing.T) {
	if example(t, "c") != read(t, "../examples/c-generator/guest.c") {
		t.Error("README.md and examples/c-generator/guest.c differ")
	}
	var got int
	open(t, "proposals.html", policy).Eval(t, `async () => {
		const { exports } = await fiberfill.instantiateStreaming(fetch("/examples/c-generator/guest.wasm"));
		return exports.sum(10);
	}`, &got)
	if got != 385 {
		t.Errorf("sum(10) is %d, want 385", got)
	}
}

// example returns the first block of code in a language that README.md shows.
func example(t *testing.T, language string) string {
	t.Helper()
	_, rest, found := strings.Cut(read(t, "../README.md"), "```"+language+"\n")
	code, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatalf("README.md shows nothing in %s", language)
	}
	return code
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
