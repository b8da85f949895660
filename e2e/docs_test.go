package e2e_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// What README.md and docs show is run, letter by letter: what a reader copies works.

// scriptTag is where the documents' pages load the script tag from; the tests serve what has been built in its place.
const scriptTag = "https://cdn.jsdelivr.net/npm/fiberfill@0.1/fiberfill.js"

// The first page that README.md shows.
func TestReadmePage(t *testing.T) {
	page := example(t, "README.md", "html")
	if !strings.Contains(page, scriptTag) {
		t.Fatalf("the page does not load %s", scriptTag)
	}
	tab := open(t, "index.html", func(o *webserver.Options) {
		o.Files = map[string]fs.FS{"/": fstest.MapFS{
			"index.html":   {Data: []byte(strings.Replace(page, scriptTag, "fiberfill.js", 1))},
			"fiberfill.js": {Data: []byte(read(t, "web/dist/fiberfill.js"))},
			"guest.wasm":   {Data: []byte(read(t, "examples/c-fetch/guest.wasm"))},
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

// The addresses of the content delivery network name a file of the package, in a version that it can have.
func TestDocsAddresses(t *testing.T) {
	manifest := read(t, "web/npm/package.json")
	for _, field := range []string{`"unpkg": "fiberfill.js"`, `"jsdelivr": "fiberfill.js"`, `"version": "0.1.`} {
		if !strings.Contains(manifest, field) {
			t.Errorf("package.json lacks %s", field)
		}
	}
	for _, file := range documents(t) {
		for _, address := range regexp.MustCompile(`https://(cdn\.jsdelivr\.net|unpkg\.com)/[^"\s)]*`).FindAllString(read(t, file), -1) {
			if address != scriptTag {
				t.Errorf("%s has %s, not %s", file, address, scriptTag)
			}
		}
	}
}

// The modules of the guides: all blocks of one guide are one program. What it prints stands behind console.log.
func TestDocsModules(t *testing.T) {
	for _, file := range documents(t) {
		program := strings.Join(examples(t, file, "js"), "\n")
		if program == "" {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			var want []string
			for _, m := range regexp.MustCompile(`(?m)^console\.log\(.*\); // (.*)$`).FindAllStringSubmatch(program, -1) {
				want = append(want, m[1])
			}
			if len(want) == 0 || len(want) != strings.Count(program, "console.log(") {
				t.Fatalf("%d calls of console.log say what they print", len(want))
			}
			tab := open(t, "index.html", func(o *webserver.Options) {
				o.Files["/"] = fstest.MapFS{
					"index.html": {Data: []byte(modulePage)},
					"program.js": {Data: []byte(program)},
				}
			})
			var got []string
			tab.Eval(t, `async () => {
				await import("/program.js");
				return printed;
			}`, &got)
			if !slices.Equal(got, want) {
				t.Errorf("it prints\n%s\nand says that it prints\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// modulePage is a page in which the package has its name, and console.log is kept as Node prints it.
const modulePage = `<!doctype html>
<script type="importmap">
{ "imports": {
  "fiberfill": "/dist/npm/esm/index.js",
  "fiberfill/actors": "/dist/npm/esm/actors.js",
  "fiberfill/webassembly": "/dist/npm/esm/webassembly.js"
} }
</script>
<script>
const printed = [];
const shown = (value) => (typeof value === "bigint" ? value + "n" : String(value));
console.log = (...values) => printed.push(values.map(shown).join(" "));
</script>`

// docs/go.md's program, built and run against a real server.
func TestDocsGoProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(program, []byte(example(t, "docs/go.md", "go")), 0o644); err != nil {
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

// docs/own-fibers.md's generator is the guest in examples, which TestDocsModules calls.
func TestDocsGenerator(t *testing.T) {
	if example(t, "docs/own-fibers.md", "c") != read(t, "examples/c-generator/guest.c") {
		t.Error("docs/own-fibers.md and examples/c-generator/guest.c differ")
	}
}

// docs/server.md's commands, one after the other, by a shell. What they print stands below them.
func TestDocsConsole(t *testing.T) {
	server := serve(t)
	dir := t.TempDir()
	for _, shown := range strings.Split("\n"+strings.TrimSpace(example(t, "docs/server.md", "console")), "\n$ ")[1:] {
		command, want, _ := strings.Cut(shown, "\n")
		line := strings.ReplaceAll(command, "-o fiberfill", "-o "+filepath.Join(dir, "fiberfill"))
		line = strings.ReplaceAll(line, "./fiberfill", filepath.Join(dir, "fiberfill"))
		run := exec.Command("sh", "-c", line)
		run.Dir, run.Env = "..", append(os.Environ(), "SERVER="+server.URL)
		out, err := run.Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s\nprinted %q, want %q: %v", command, got, want, err)
		}
	}
}

// No block of code is in a language that no test runs.
func TestDocsBlocksAreRun(t *testing.T) {
	run := map[string][]string{
		"README.md": {"html"}, "docs/go.md": {"go"}, "docs/own-fibers.md": {"c", "js"}, "docs/server.md": {"console"},
		"docs/javascript.md": {"html", "js"}, "docs/actors.md": {"js"},
	}
	for _, file := range documents(t) {
		for _, m := range regexp.MustCompile("(?m)^ *```(\\S+)").FindAllStringSubmatch(read(t, file), -1) {
			if !slices.Contains(run[file], m[1]) && file != "docs/rules.md" { // whose blocks cmd/build compares
				t.Errorf("%s has a block of %s that is not run", file, m[1])
			}
		}
	}
	if tag := example(t, "docs/javascript.md", "html"); tag != `<script src="`+scriptTag+`"></script>`+"\n" {
		t.Errorf("docs/javascript.md loads %s", tag)
	}
}

// What documents link to is there.
func TestDocsLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]*))?\)`)
	for _, file := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, file), -1) {
			target := file
			if m[1] != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(file), m[1]))
			}
			if _, err := os.Stat(filepath.Join("..", target)); err != nil {
				t.Errorf("%s links to %s: %v", file, m[1], err)
			} else if m[2] != "" && !anchors(read(t, target))[m[2]] {
				t.Errorf("%s links to %s, which has no #%s", file, target, m[2])
			}
		}
	}
}

// anchors returns where one can link to in a document: its headings, as GitHub names them, and what it names itself.
func anchors(text string) map[string]bool {
	at := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")
		at[regexp.MustCompile(`[^\p{L}\p{N}_-]`).ReplaceAllString(name, "")] = true
	}
	for _, m := range regexp.MustCompile(`<a id="([^"]*)">`).FindAllStringSubmatch(text, -1) {
		at[m[1]] = true
	}
	return at
}

// documents are the pages for readers, by their paths in the repository.
func documents(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("docs: %v", err)
	}
	pages := []string{"README.md", "CONTRIBUTING.md", "RATIONALE.md", "CHANGELOG.md"}
	for _, file := range files {
		pages = append(pages, "docs/"+filepath.Base(file))
	}
	return pages
}

// example returns the first block of code in a language that a document shows.
func example(t *testing.T, file, language string) string {
	t.Helper()
	all := examples(t, file, language)
	if len(all) == 0 {
		t.Fatalf("%s shows nothing in %s", file, language)
	}
	return all[0]
}

func examples(t *testing.T, file, language string) (blocks []string) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(read(t, file), -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
