package e2e_test

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fiberfill/fiberfill/internal/engines"
	"github.com/fiberfill/fiberfill/internal/webserver"
)

// testPlan tells tests.js what to run.
type testPlan struct {
	File     string            `json:"file"`    // its URL
	LeftOut  []string          `json:"leftOut"` // texts in names of tests
	HideJSPI bool              `json:"hideJSPI"`
	Env      map[string]string `json:"env"`
}

// testRun is the result of tests.js.
type testRun struct {
	Passed, LeftOut int
	Failures        []string
}

// serve serves the plan, the tests at the places from which they import each other, the package, and the assembler.
func (p testPlan) serve(o *webserver.Options) {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	o.Files["/plan/"] = fstest.MapFS{"plan.json": {Data: text}}
	for path, folder := range map[string]string{
		"/jsglue/test/":    "../jsglue/test",
		"/web/dist/":       "../web/dist",
		"/guest/testdata/": "../guest/testdata",
		"/asyncio/actors/": "../asyncio/actors",
		"/docs/":           "../docs",
		"/jspm/":           "../node_modules/@jspm/core/nodelibs/browser",
	} {
		o.Files[path] = os.DirFS(folder)
	}
	o.Handlers = map[string]http.Handler{"POST /assemble": &assembling}
}

// run runs the tests in a browser.
func (p testPlan) run(t *testing.T, engine engines.Engine) {
	var got testRun
	if engine == engines.Chromium {
		open(t, "tests.html", p.serve).Eval(t, "tests.run", &got)
	} else {
		got = in[testRun](t, engine, "tests.html", "tests.run", p.serve)
	}
	for _, failure := range got.Failures {
		t.Error(failure)
	}
	if got.Passed == 0 {
		t.Errorf("no test of %s has passed", p.File)
	}
	t.Logf("%d tests passed, %d left out", got.Passed, got.LeftOut)
}

// inBrowsers runs files of tests in all browsers at the same time; plan says how.
func inBrowsers(t *testing.T, files func(engines.Engine) []string, plan testPlan) {
	t.Parallel()
	plan.Env["FIBERFILL_WIRINGS"] = "100"
	for _, engine := range engines.Browsers {
		t.Run(string(engine), func(t *testing.T) {
			t.Parallel()
			plan := plan
			plan.LeftOut = engine.LeftOut()
			for _, file := range files(engine) {
				t.Run(strings.TrimSuffix(filepath.Base(file), "_test.mjs"), func(t *testing.T) {
					plan.File = "/" + filepath.ToSlash(file)
					plan.run(t, engine)
				})
			}
		})
	}
}

// Fibers on stacks of fiberfill's own do in browsers without JSPI what they do in Node: the same tests.
func TestFibersOnOwnStacks(t *testing.T) {
	inBrowsers(t, engines.Engine.Files, testPlan{
		HideJSPI: true,
		Env:      map[string]string{"FIBERFILL_ROUNDS": "1000", "FIBERFILL_LEGACY": "100"},
	})
}

// The stack-switching instructions do in browsers what they do in Node: the same tests.
func TestInstructions(t *testing.T) {
	files, err := fs.Glob(os.DirFS(".."), "jsglue/test/instructions_*_test.mjs")
	if err != nil || files == nil {
		t.Fatal("no files: ", err)
	}
	inBrowsers(t, func(engines.Engine) []string { return files }, testPlan{Env: map[string]string{}})
}
