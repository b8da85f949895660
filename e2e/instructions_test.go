package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// instructionsRun is the result of instructions.js.
type instructionsRun struct {
	Passed   int
	Failures []string
}

func (r instructionsRun) check(t *testing.T) {
	t.Helper()
	for _, failure := range r.Failures {
		t.Error(failure)
	}
	if want := instructionTests(t); r.Passed+len(r.Failures) != want {
		t.Errorf("%d tests have run, the files have %d", r.Passed+len(r.Failures), want)
	}
}

// instructionTests returns how many tests the files have that Node runs.
func instructionTests(t *testing.T) (n int) {
	t.Helper()
	files, err := filepath.Glob("../jsglue/test/instructions_*_test.mjs")
	if err != nil || files == nil {
		t.Fatal("no files: ", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n += len(regexp.MustCompile(`(?m)^test\(`).FindAll(text, -1))
	}
	return n
}

// nodeFiles serves the tests at the places from which they import each other, the package, and Binaryen.
func nodeFiles(o *webserver.Options) {
	o.Files["/jsglue/test/"] = os.DirFS("../jsglue/test")
	o.Files["/web/dist/"] = os.DirFS("../web/dist")
	o.Files["/binaryen/"] = os.DirFS("../node_modules/binaryen")
}

// The stack-switching instructions do in browsers what they do in Node: the same tests.
func TestInstructions(t *testing.T) {
	var got instructionsRun
	open(t, "instructions.html", nodeFiles).Eval(t, "instructions.run", &got)
	got.check(t)
}

func TestInstructionsInFirefox(t *testing.T) {
	var got instructionsRun
	inFirefox(t, "instructions.html", "instructions.run", &got, nodeFiles)
	got.check(t)
}
