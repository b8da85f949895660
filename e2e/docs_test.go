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

// These tests run what README.md and docs show, letter by letter, so that what a reader copies works.

// scriptTag is the address of the script in the documents' pages. The tests serve the built script in its place.
const scriptTag = "https://cdn.jsdelivr.net/npm/fiberfill@0.1/fiberfill.js"

// webassemblyModule is the address of fiberfill/webassembly in them.
const webassemblyModule = "https://cdn.jsdelivr.net/npm/fiberfill@0.1/esm/webassembly.js"

// The page that README.md shows first.
func TestReadmePage(t *testing.T) {
	page := example(t, "README.md", "html")
	if !strings.Contains(page, scriptTag) {
		t.Fatalf("the page does not load %s", scriptTag)
	}
	showsEverywhere(t, "1000 fibers, sum "+sumOfItems(1000), fstest.MapFS{
		"index.html": {Data: []byte(strings.Replace(page, scriptTag, "/dist/fiberfill.js", 1))},
		"guest.wasm": {Data: []byte(read(t, "examples/c-fetch/guest.wasm"))},
	})
}

// showsEverywhere checks what text the page in files shows in all browsers.
func showsEverywhere(t *testing.T, want string, files fs.FS) {
	shown := func(o *webserver.Options) { o.Files["/shown/"] = files }
	check := func(t *testing.T, got string) {
		if got != want {
			t.Errorf("the page says %q, want %q", got, want)
		}
	}
	t.Run("Chromium", func(t *testing.T) {
		var got string
		open(t, "shows.html", shown).Eval(t, "shows.text", &got)
		check(t, got)
	})
	inOthers(t, "shows.html", "shows.text", check, shown)
}

// sumOfItems adds up the values of the server's first items.
func sumOfItems(count uint64) string {
	sum := uint64(0)
	for id := range count {
		sum += webserver.Value(id)
	}
	return fmt.Sprint(sum)
}

// The page of docs/instructions.md.
func TestInstructionsPage(t *testing.T) {
	page := example(t, "docs/instructions.md", "html")
	if !strings.Contains(page, webassemblyModule) {
		t.Fatalf("the page does not import %s", webassemblyModule)
	}
	showsEverywhere(t, "1 + 4 + ... + 100 = 385", fstest.MapFS{
		"index.html": {Data: []byte(strings.Replace(page, webassemblyModule, "/dist/npm/esm/webassembly.js", 1))},
		"guest.wasm": {Data: []byte(read(t, "examples/wat-generator/guest.wasm"))},
	})
}

// Every CDN address in the documents names an existing file of the package, in an existing version.
func TestDocsAddresses(t *testing.T) {
	manifest := read(t, "web/npm/package.json")
	for _, field := range []string{`"unpkg": "fiberfill.js"`, `"jsdelivr": "fiberfill.js"`, `"version": "0.1.`} {
		if !strings.Contains(manifest, field) {
			t.Errorf("package.json lacks %s", field)
		}
	}
	cdn := regexp.MustCompile(`https://(cdn\.jsdelivr\.net|unpkg\.com)/[^"\s)]*`)
	for _, file := range documents(t) {
		for _, address := range cdn.FindAllString(read(t, file), -1) {
			if address != scriptTag && address != webassemblyModule {
				t.Errorf("%s has %s, which is not a file of the package", file, address)
			}
		}
	}
}

// The figures that README.md compares are those of docs/bench, in Chromium.
func TestReadmeFigures(t *testing.T) {
	bench := read(t, "docs/bench/README.md")
	row := func(text, label string) []string {
		t.Helper()
		m := regexp.MustCompile(`(?m)^\| *` + regexp.QuoteMeta(label) + ` *\|(.*)\|$`).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("there is no row %s", label)
		}
		cells := strings.Split(m[1], "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		return cells
	}
	for label, in := range map[string]struct {
		section, engine string
		column          int
		unit            string
	}{
		"calls waiting at once":       {"How far it goes", "Chromium, ", 0, ""},
		"calls that have ended":       {"How far it goes", "Chromium, ", 1, ""},
		"one switch among 100":        {"Switching", "Chromium, ", 2, " ns"},
		"a call, 1,000 at once, warm": {"Starting, warm", "Chromium, ", 3, " µs"},
		"a call, 1 at once, warm":     {"Starting, warm", "Chromium, ", 0, " µs"},
		"1,000 fetches":               {"Fetching", "Chromium, ", 0, " ms"},
		"time to the first call":      {"The first fiber", "Chromium, ", 0, " ms"},
		"bytes to load (brotli)":      {"Bytes", "", 0, ""},
	} {
		_, section, found := strings.Cut(bench, "\n## "+in.section+"\n")
		if !found {
			t.Fatalf("docs/bench has no section %s", in.section)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		got := row(read(t, "README.md"), label)
		for i, contestant := range []string{"fiberfill", "raw JSPI", "Asyncify", "async/await"} {
			if got[i] == "" {
				continue // it was not measured
			}
			if want := row(section, in.engine+contestant)[in.column] + in.unit; got[i] != want {
				t.Errorf("%s, %s: README.md says %s, docs/bench %s", label, contestant, got[i], want)
			}
		}
	}
}

// All modules of one guide form one program. The expected output is in the comments after console.log.
func TestDocsModules(t *testing.T) {
	for _, file := range documents(t) {
		program := strings.Join(examples(t, file, "js"), "\n")
		if program == "" || file == "docs/start.md" { // whose module is Vite's: TestStartVite
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			var want []string
			logs := regexp.MustCompile(`(?m)^console\.log\(.*\); // (.*)$`)
			for _, m := range logs.FindAllStringSubmatch(program, -1) {
				want = append(want, m[1])
			}
			if len(want) == 0 || len(want) != strings.Count(program, "console.log(") {
				t.Fatalf("%d calls of console.log have a comment with their output", len(want))
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
				t.Errorf("it prints\n%s\nbut the comments say\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// modulePage is a page that maps the package's name and collects the output of console.log as Node prints it.
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

// The program of docs/go.md, run against a real server.
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

// The second program of docs/go.md: three at a time, and no error without the URL.
func TestDocsGoLimits(t *testing.T) {
	program := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(program, []byte(examples(t, "docs/go.md", "go")[1]), 0o644); err != nil {
		t.Fatal(err)
	}
	server := serve(t)
	run := exec.Command("go", "run", program)
	for id := range 8 {
		run.Args = append(run.Args, fmt.Sprintf("%s/item?ms=200&id=%d", server.URL, id))
	}
	out, err := run.CombinedOutput()
	if now := server.Stats(); err != nil || !strings.HasSuffix(string(out), "] <nil>\n") || now.MostInFlight != 3 {
		t.Errorf("%v: %v, %d at once\n%s", run.Args, err, now.MostInFlight, out)
	}
	late := server.URL + "/never"
	out, err = exec.Command("go", "run", program, late).CombinedOutput()
	if want := "[] " + late + ": context deadline exceeded\nexit status 1\n"; err == nil || string(out) != want {
		t.Errorf("%v, printed %q, want %q", err, out, want)
	}
}

// The guest and the program of docs/server.md.
func TestDocsServerProgram(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "guest"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, language := range map[string]string{"main.go": "go", "guest/total.c": "c"} {
		text := example(t, "docs/server.md", language)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shell(t, dir, lineOf(t, "docs/server.md", "clang "))
	run := exec.Command("go", "run", filepath.Join(dir, "main.go"), filepath.Join(dir, "total.wasm"))
	if out, err := run.CombinedOutput(); err != nil || string(out) != "0.09\n<nil>\n" {
		t.Errorf("%v: %v\n%s", run.Args, err, out)
	}
}

// The generator of docs/own-fibers.md is the guest in examples, which TestDocsModules calls.
func TestDocsGenerator(t *testing.T) {
	if example(t, "docs/own-fibers.md", "c") != read(t, "examples/c-generator/guest.c") {
		t.Error("docs/own-fibers.md and examples/c-generator/guest.c differ")
	}
}

// The commands of docs/server.md, run one after another by a shell. The expected output is below each.
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

// Every block of code in the documents is run by a test.
func TestDocsBlocksAreRun(t *testing.T) {
	run := map[string][]string{
		"README.md": {"html"}, "docs/start.md": {"c", "rust", "html", "js", "mjs", "go"},
		"docs/go.md": {"go"}, "docs/own-fibers.md": {"c", "js"}, "docs/server.md": {"console", "c", "go"},
		"docs/javascript.md": {"html", "js"}, "docs/actors.md": {"js"}, "docs/instructions.md": {"html", "js"},
	}
	for _, file := range documents(t) {
		for _, m := range regexp.MustCompile("(?m)^ *```(\\S+)").FindAllStringSubmatch(read(t, file), -1) {
			// cmd/build compares the blocks of docs/rules.md; web/npm/package_test.mjs compiles TypeScript.
			if !slices.Contains(run[file], m[1]) && m[1] != "ts" && file != "docs/rules.md" {
				t.Errorf("%s has a block of %s that is not run", file, m[1])
			}
		}
	}
	if tag := example(t, "docs/javascript.md", "html"); tag != `<script src="`+scriptTag+`"></script>`+"\n" {
		t.Errorf("docs/javascript.md loads %s", tag)
	}
}

// Every link in the documents has a target.
func TestDocsLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]*))?\)`)
	for _, file := range append(documents(t), beside(t)...) {
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

// anchors returns the anchors of a document: its headings, as GitHub names them, and its explicit anchors.
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

// documents returns the paths of the documents in the repository.
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

// beside returns the paths of the READMEs of examples and of folders.
func beside(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"examples/*", "jsglue", "jsglue/*", "e2e/testdata"} {
		found, err := filepath.Glob("../" + pattern + "/README.md")
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range found {
			files = append(files, filepath.ToSlash(strings.TrimPrefix(file, "../")))
		}
	}
	return files
}

// example returns a document's first block of code in a language.
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
