package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
	tab.Eval(t, `async (text) => {
		const element = (id) => document.getElementById(id);
		element("source").value = text;
		const ran = new Promise((resolve) => element("program").addEventListener("ran", resolve, { once: true }));
		element("run").click();
		await ran;
		element("last").click();
		const shown = (id) => element(id).hidden ? "" : element(id).textContent;
		return {
			outcome: shown("outcome"), line: shown("line"), running: shown("running"), saved: shown("saved"),
			printed: shown("printed"), position: shown("position"), engine: shown("engine"),
			steps: [...document.querySelectorAll("#lane-events li")].map((step) => step.textContent),
		};
	}`, &got, text)
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
	t.Run("accessible", func(t *testing.T) { tryIsAccessible(t, tab) })
	t.Run("errors", func(t *testing.T) { tryTellsErrors(t, tab) })
	t.Run("stop", func(t *testing.T) { tryStops(t, tab) })
}

// Each program that the page offers prints, or traps, as its first lines say.
func tryPrograms(t *testing.T, tab *tab) {
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
		got := tab.try(t, string(text))
		if want := strings.ReplaceAll(string(prints[1]), " ", ", "); got.Printed != want {
			t.Errorf("%s prints %s, want %s: %s", file, got.Printed, want, got.Outcome)
		}
		want := "Ended after "
		if traps := regexp.MustCompile(`(?m)^;; Traps: (.*)$`).FindSubmatch(text); traps != nil {
			want = "RuntimeError: " + string(traps[1])
		}
		if !strings.HasPrefix(got.Outcome, want) {
			t.Errorf("%s: %s, want %s", file, got.Outcome, want)
		}
	}
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
