package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

const tryPage = "dist/demo/instructions/index.html"

// tried is what the page for the instructions shows after a run, at its last step.
type tried struct {
	Outcome, Line, Running, Saved, Printed, Position, Engine string
	Steps                                                    []string
}

// try runs a text in the page.
func (tab *tab) try(t *testing.T, text string) (got tried) {
	t.Helper()
	tab.Eval(t, "(text) => {\n"+read(t, "e2e/testdata/pages/try.js")+"\nreturn tried(window, text) }", &got, text)
	return got
}

// openTry opens the page, and returns once the program that the address names has run.
func openTry(t *testing.T, fragment string) *tab {
	t.Helper()
	tab := open(t, tryPage+fragment, demoPolicy, axe)
	tab.Eval(t, `async () => {
		while (!document.getElementById("position").textContent) await new Promise(requestAnimationFrame);
	}`, nil)
	return tab
}

// The page loads Binaryen once, for all of these.
func TestTry(t *testing.T) {
	tab := openTry(t, "#switch")
	t.Run("programs", func(t *testing.T) { tryPrograms(t, tab) })
	t.Run("steps", func(t *testing.T) { tryShowsSteps(t, tab) })
	t.Run("frames", func(t *testing.T) { tryShowsFrames(t, tab) })
	t.Run("accessible", func(t *testing.T) { tryIsAccessible(t, tab) })
	t.Run("errors", func(t *testing.T) { tryTellsErrors(t, tab) })
	t.Run("stop", func(t *testing.T) { tryStops(t, tab) })
}

// program is one that the page offers. Its first lines say what it prints, and how it traps.
type program struct{ name, text, prints, outcome string }

func programs(t *testing.T) (list []program) {
	t.Helper()
	files, err := filepath.Glob("../web/instructions/programs/*.wat")
	if err != nil || len(files) < 12 {
		t.Fatal(len(files), "programs", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		prints := regexp.MustCompile(`(?m)^;; Prints: (.*)$`).FindSubmatch(text)
		if prints == nil {
			t.Fatal(file, "does not say what it prints")
		}
		p := program{file, string(text), strings.ReplaceAll(string(prints[1]), " ", ", "), "Ended after "}
		if traps := regexp.MustCompile(`(?m)^;; Traps: (.*)$`).FindSubmatch(text); traps != nil {
			p.outcome = "RuntimeError: " + string(traps[1])
		}
		list = append(list, p)
	}
	return list
}

func (p program) check(t *testing.T, got tried) {
	t.Helper()
	if got.Printed != p.prints {
		t.Errorf("%s prints %s, want %s: %s", p.name, got.Printed, p.prints, got.Outcome)
	}
	if !strings.HasPrefix(got.Outcome, p.outcome) {
		t.Errorf("%s: %s, want %s", p.name, got.Outcome, p.outcome)
	}
}

// Each program that the page offers prints, or traps, as its first lines say.
func tryPrograms(t *testing.T, tab *tab) {
	for _, p := range programs(t) {
		p.check(t, tab.try(t, p.text))
	}
}

// So it does in the other browsers.
func TestTryInOthers(t *testing.T) {
	t.Parallel()
	list := programs(t)
	var texts []string
	for _, p := range list {
		texts = append(texts, p.text)
	}
	data, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	check := func(t *testing.T, got []tried) {
		if len(got) != len(list) {
			t.Fatalf("%d results of %d programs", len(got), len(list))
		}
		for i, p := range list {
			p.check(t, got[i])
		}
	}
	inOthers(t, "try.html", "tries.all", check, demoPolicy, func(o *webserver.Options) {
		o.Files["/programs/"] = fstest.MapFS{"all.json": {Data: data}}
	})
}

// The steps are the operations of the run, in order, with their values.
func tryShowsSteps(t *testing.T, tab *tab) {
	for program, want := range map[string][]string{
		"throw-in": {
			"caller to count: cont.new", "caller to count: resume",
			"count to caller: suspend yield 1", "caller: print 1", "caller to count: resume",
			"count to caller: suspend yield 2", "caller: print 2",
			"caller to count: resume_throw enough", "count: print 99", "count to caller: return",
		},
		"deep": {
			"caller to outer: cont.new", "caller to outer: resume", "outer to inner: cont.new",
			"outer to inner: resume",
			"inner: print 1", "inner to caller: suspend ask", "caller to inner: resume 42", "inner: print 42",
			"inner to outer: return", "outer: print 2", "outer to caller: return",
		},
		"switch": {
			"caller to a: cont.new", "caller to b: cont.new", "caller to c: cont.new", "caller to a: resume",
			"a: print 10", "a to b: switch turn", "b: print 20", "b to c: switch turn", "c: print 30",
			"c to a: switch turn", "a: print 11", "a to caller: return",
			"caller to b: resume", "b: print 21", "b to caller: return",
			"caller to c: resume", "c: print 31", "c to caller: return",
		},
	} {
		text, err := os.ReadFile("../web/instructions/programs/" + program + ".wat")
		if err != nil {
			t.Fatal(err)
		}
		got := tab.try(t, string(text))
		if strings.Join(got.Steps, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %q, want %q", program, got.Steps, want)
		}
		if got.Running != "caller" || got.Saved != "-" || !strings.Contains(got.Engine, "no such instructions") {
			t.Errorf("%s: %+v", program, got)
		}
	}
}

// What is saved says which functions of a continuation wait, from the outermost on.
func tryShowsFrames(t *testing.T, tab *tab) {
	for program, want := range map[string]string{
		"tree":   "walk (walk > walk > walk: suspend yield 3)",
		"deep":   "outer (resumes another), inner (outer > inner: suspend ask)",
		"switch": "b (b > run: switch turn), c (c > run: switch turn)",
	} {
		text, err := os.ReadFile("../web/instructions/programs/" + program + ".wat")
		if err != nil {
			t.Fatal(err)
		}
		tab.try(t, string(text))
		var got []string
		tab.Eval(t, `() => {
			const click = (id) => document.getElementById(id).click();
			const seen = [];
			for (click("first"); !document.getElementById("forward").disabled; click("forward")) {
				seen.push(document.getElementById("saved").textContent);
			}
			return seen;
		}`, &got)
		if !slices.Contains(got, want) {
			t.Errorf("%s: saved is %q, want %q among them", program, got, want)
		}
	}
}

// Errors of the assembler name the line and show it; programs that are wrong in another way say so.
func tryTellsErrors(t *testing.T, tab *tab) {
	got := tab.try(t, "(module\n  (func (export \"main\") (i32.plus)))")
	if !strings.HasPrefix(got.Outcome, "Line 2, column ") || !strings.Contains(got.Line, "i32.plus") {
		t.Errorf("%+v", got)
	}
	got = tab.try(t, "(module)")
	if !strings.Contains(got.Outcome, `exported as "main"`) {
		t.Errorf("%+v", got)
	}
	got = tab.try(t, `(module (tag $t) (func (export "main") (suspend $t)))`)
	if !strings.Contains(got.Outcome, "unhandled tag") || len(got.Steps) == 0 ||
		!strings.Contains(got.Steps[0], "suspend t: RuntimeError") {
		t.Errorf("%+v", got)
	}
}

// A program without an end can be stopped, and the next one runs.
func tryStops(t *testing.T, tab *tab) {
	tab.Eval(t, `() => {
		document.getElementById("source").value = '(module (func (export "main") (loop $l (br $l))))';
		document.getElementById("run").click();
		document.getElementById("stop").click();
	}`, nil)
	if got := tab.try(t, `(module (func (export "main") (result i32) (i32.const 7)))`); got.Outcome !=
		"Ended after 0 steps, and returned 7." {
		t.Errorf("%+v", got)
	}
}

// The link has the program.
func TestTryShares(t *testing.T) {
	tab := openTry(t, "#switch")
	const text = `(module (func (export "main") (result i32) (i32.const 42))) ;; ünïcode`
	var link string
	tab.Eval(t, `async (text) => {
		document.getElementById("source").value = text;
		document.getElementById("share").click();
		while (!location.hash.startsWith("#wat=")) await new Promise(requestAnimationFrame);
		return location.hash;
	}`, &link, text)
	var got string
	openTry(t, link).Eval(t, `() => document.getElementById("source").value`, &got)
	if got != text {
		t.Errorf("the link has %q, want %q", got, text)
	}
}

// axe serves axe-core.
func axe(o *webserver.Options) { o.Files["/axe/"] = os.DirFS("../node_modules/axe-core") }

const desktop, phone = 1440, 390 // CSS pixels

// accessible checks the page at the sizes of a desktop and of a phone, each in light and dark.
func (tab *tab) accessible(t *testing.T) {
	t.Helper()
	for _, width := range []int{desktop, phone} {
		for _, dark := range []bool{false, true} {
			tab.accessibleAt(t, width, dark)
		}
	}
}

// accessibleAt fails if axe-core finds something serious, or if the page is wider than the screen.
func (tab *tab) accessibleAt(t *testing.T, width int, dark bool) {
	t.Helper()
	ctx, cancel := limit(t)
	defer cancel()
	if err := tab.Screen(ctx, width, 850, dark); err != nil {
		t.Fatal(err)
	}
	var found []string
	tab.Eval(t, `async () => {
		if (!globalThis.axe) {
			const script = Object.assign(document.createElement("script"), { src: "/axe/axe.min.js" });
			const loaded = new Promise((resolve) => script.addEventListener("load", resolve));
			document.head.append(script);
			await loaded;
		}
		const { violations } = await axe.run(document, { resultTypes: ["violations"] });
		const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
		return [...violations.filter(({ impact }) => impact === "serious" || impact === "critical")
			.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html)),
			...(wide ? ["wider than the screen"] : [])];
	}`, &found)
	for _, what := range found {
		t.Errorf("width %d, dark %v: %s", width, dark, what)
	}
}

func tryIsAccessible(t *testing.T, tab *tab) {
	tab.Eval(t, `() => document.getElementById("last").click()`, nil)
	tab.accessible(t)
}
