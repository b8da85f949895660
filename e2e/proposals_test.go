package e2e_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// proposalsRun is the result of proposals-run.js.
type proposalsRun struct {
	Sum, Values, Spawn, Waits int
	Same                      bool
	Trap, Refused             string
	Entries                   []int
	Generators, Kept, More    int
	Left                      int
}

var wantProposals = proposalsRun{
	Sum: 5050, Values: 0, Spawn: 2, Waits: 7, Same: true, Trap: "trap",
	Refused: "receiver has no handler for the event [A-HDL-7]: tag 1, fiber 25165825. " +
		"Have it wait with a table that has it",
	Entries: []int{55, 210, 465}, Generators: 6000, Kept: 20, More: 9, Left: 0,
}

func guests(o *webserver.Options) { o.Files["/guests/"] = os.DirFS("../jsglue/test/testdata") }

// Guests with fibers of their own run wherever fiberfill does, under the strictest policy that allows wasm at all. The
// file that only they need, beside the script, is loaded when the first of them is instantiated.
func TestProposals(t *testing.T) {
	for name, in := range map[string]struct{ page, function string }{
		"page":           {"proposals.html", "proposals.run"},
		"module":         {"proposals-module.html", "proposals.run"},
		"classic worker": {"proposals.html", "proposals.classicWorker"},
		"module worker":  {"proposals.html", "proposals.moduleWorker"},
	} {
		t.Run(name, func(t *testing.T) {
			var files record
			tab := open(t, in.page, policy, guests, files.keep)
			if slices.Contains(files.paths(), "/dist/fiberfill-proposals.js") {
				t.Error("the second file was loaded before any guest needed it")
			}
			var got proposalsRun
			if tab.Eval(t, in.function, &got); !reflect.DeepEqual(got, wantProposals) {
				t.Errorf("got %+v\nwant %+v", got, wantProposals)
			}
			if second := slices.Contains(files.paths(), "/dist/fiberfill-proposals.js"); second != (name != "module "+
				"worker") {
				t.Errorf("the script tag's second file was loaded: %t", second)
			}
		})
	}
}

// In Firefox every fiber has a fresh stack, in WebKit one of fiberfill's own.
func TestProposalsInOthers(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, got proposalsRun) {
		if !reflect.DeepEqual(got, wantProposals) {
			t.Errorf("got %+v\nwant %+v", got, wantProposals)
		}
	}
	inOthers(t, "proposals.html", "proposals.run", check, policy, guests)
}

// If a page has only the first file, the error says where the second was looked for.
func TestProposalsWithoutTheirFile(t *testing.T) {
	tab := open(t, "proposals.html", guests, func(o *webserver.Options) {
		script, err := os.ReadFile("../web/dist/fiberfill.js")
		if err != nil {
			t.Fatal(err)
		}
		o.Files["/dist/"] = fstest.MapFS{"fiberfill.js": {Data: script}}
	})
	var got string
	tab.Eval(t, "proposals.fails", &got)
	for _, want := range []string{"load-failed: fiberfill-proposals.js, which guests that import fiberfill/fibers1 " +
		"need, cannot be loaded", "/dist/fiberfill-proposals.js"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}

	tab.Eval(t, `async () => {
		const script = document.createElement("script");
		script.src = URL.createObjectURL(await (await fetch("/dist/fiberfill.js")).blob());
		await new Promise((loaded) => { script.onload = loaded; document.head.append(script); });
		return proposals.fails();
	}`, &got)
	want := "load-failed: fiberfill-proposals.js, which guests that import fiberfill/fibers1 need, cannot be loaded"
	if !strings.Contains(got, want) {
		t.Errorf("from a blob: %q does not say %q", got, want)
	}
}
