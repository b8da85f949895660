package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An unwound engine runs tests of jsglue with fibers on stacks of fiberfill's own: it has no JSPI, or it is hidden.
type unwound string

const (
	hidden unwound = "JSPI hidden" // the project's Node
	node22 unwound = "Node 22"
	bun12  unwound = "Bun 1.2"
)

var unwoundEngines = []unwound{hidden, node22, bun12}

// unwoundFiles are the files of tests that are run there as well, by what comes before _test.mjs.
var unwoundFiles = []string{
	"arena", "arena_cancel", "bad_stacks", "cancel", "deliver", "exceptions", "frames", "inside", "jspi",
	"jspi_stacks", "legacy", "linked", "npm", "onestack", "options", "overlap", "proposals", "proposals_bad",
	"proposals_entries", "scenarios", "tables", "wirings", "yields",
}

// instructionFiles are those of the stack-switching instructions, which need no JSPI: they run in the engines that have
// none. The project's Node runs them with all others.
var instructionFiles = []string{
	"instructions_binary", "instructions_host", "instructions_resume", "instructions_switch", "instructions_throw",
	"instructions_types", "lower_limits", "lower", "lower_traps", "lower_world",
}

// A leftOut is tests that an engine cannot pass: those with this text in their names, or in that of their group.
type leftOut struct {
	text, why string
	engines   []unwound // all, if there is none
}

const (
	rawJSPI       = "it is about the platform's own JSPI"
	noExport      = "on stacks of our own promising takes exports only: others are refused when they would wait"
	bunRejections = "Bun's runner takes unhandled rejections for itself, before the test can"
	nodeFlags     = "it starts Node with flags that this engine lacks"
	bunObjects    = "Bun 1.2 itself makes a new object for each export, and for each look into a table"
)

// leftOuts is all that is left out.
var leftOuts = []leftOut{
	{"the guest notices when its calls share a stack, as on raw JSPI", rawJSPI, nil},
	{"in deliver nothing can wait below the platform's promising, and no fiber is harmed", rawJSPI, nil},
	{"a Suspending made here works with the platform, and the platform's functions with our promising", rawJSPI, nil},
	{"a Suspending made elsewhere works as on raw JSPI, beside those made here", rawJSPI, nil},
	{"what promising returns has the same name and length as the platform's", rawJSPI, nil},
	{"exports that fiberfill adds to a guest for itself are hidden", rawJSPI, nil},
	{"the namespace and Suspending look like the platform's", rawJSPI, nil},
	{"a function that is not an export works as on raw JSPI, even below a running fiber", noExport, nil},
	{"while a function that is not an export waits on a guest's only stack, plain calls spare", noExport, nil},
	{"functions that are not exports have shadow stacks of their own, beside those of fibers", noExport, nil},
	{"imports that the platform provides, builtins and strings, work beside those that wait",
		"these engines have no string constants to import", []unwound{node22, bun12}},
	{"a guest whose stack lies in a 64-bit memory serves one call at a time", "Bun 1.2 has no 64-bit memories",
		[]unwound{bun12}},
	{"a guest whose stack pointer is unknown is no worse off than on raw JSPI", "Bun 1.2 has no 64-bit memories",
		[]unwound{bun12}},
	{"try, catch, delegate and rethrow, waiting or not",
		"JavaScriptCore's older exceptions are no oracle: delegate goes astray in it", []unwound{bun12}},
	{"when the error is a string, further errors become unhandled rejections", bunRejections, []unwound{bun12}},
	{"an error to which nothing can be attached does not keep its arena from ending", bunRejections,
		[]unwound{bun12}},
	{"an engine that has the instructions runs them itself", nodeFlags, []unwound{node22, bun12}},
	{"more frames than the heap has room for end in an error", nodeFlags, []unwound{bun12}},
	{"a tag that is exported again is the same object", bunObjects, []unwound{bun12}},
	{"exports are the functions themselves: the same that a table has", bunObjects, []unwound{bun12}},
	{"in a copy by structuredClone", "Bun 1.2 cannot copy modules", []unwound{bun12}},
}

func (u unwound) patterns() (texts []string) {
	for _, l := range leftOuts {
		if l.engines == nil || slices.Contains(l.engines, u) {
			texts = append(texts, regexp.QuoteMeta(l.text))
		}
	}
	return texts
}

// unwoundTests runs the tests in one of the engines.
func unwoundTests(u unwound) (tally, error) {
	if err := stale(testFiles(slices.Concat(unwoundFiles, instructionFiles))); err != nil {
		return tally{}, err
	}
	files := testFiles(unwoundFiles)
	if u != hidden {
		names := slices.Concat(unwoundFiles, instructionFiles)
		names = slices.DeleteFunc(names, func(name string) bool { return name == "wirings" }) // compares with raw JSPI
		files = testFiles(names)
	}
	if err := install("npm"); err != nil {
		return tally{}, err
	}
	// The run in Node with JSPI plays all of them.
	os.Setenv("FIBERFILL_ROUNDS", "10000")
	defer os.Unsetenv("FIBERFILL_ROUNDS")
	if u == bun12 {
		return bunTests(files, u.patterns())
	}
	node := "node_modules/.bin/node"
	flags := []string{"--test-timeout=600000"}
	for _, text := range u.patterns() {
		flags = append(flags, "--test-skip-pattern=/"+strings.ReplaceAll(text, "/", `\/`)+"/")
	}
	if u == node22 {
		node = "node_modules/node22/bin/node"
	} else {
		flags = append(flags, "--import", "./jsglue/test/without_jspi.mjs")
	}
	return runNode(node, func(nodeEvent) {}, files, flags...)
}

func testFiles(names []string) (paths []string) {
	for _, name := range names {
		paths = append(paths, filepath.Join("jsglue", "test", name+"_test.mjs"))
	}
	return paths
}

// stale returns an error if a test that is left out is no more: then the list is to be shortened.
func stale(files []string) error {
	var all []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		all = append(all, text...)
	}
	for _, l := range leftOuts {
		if !bytes.Contains(all, []byte(l.text)) {
			return fmt.Errorf("leftOuts in cmd/build/engines.go: no test has %q in its name", l.text)
		}
	}
	return nil
}

// bunTests runs the files in Bun 1.2, one after another: they share a process otherwise.
func bunTests(files, without []string) (tally, error) {
	var total tally
	var failures []error
	for _, file := range files {
		c := exec.Command("node_modules/bun12/bin/bun.exe", "test", "--preload", "./jsglue/test/bun_runner.mjs",
			"--timeout", "600000", "-t", "^(?!.*(?:"+strings.Join(without, "|")+"))", "./"+file)
		var report bytes.Buffer
		c.Stdout = io.MultiWriter(os.Stdout, &report)
		c.Stderr = io.MultiWriter(os.Stdout, &report)
		err := c.Run()
		t, counted := countBunSummary(report.String())
		total.passed += t.passed
		total.failed += t.failed
		if err = errors.Join(err, counted); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", file, err))
		}
	}
	return total, errors.Join(failures...)
}

var bunSummary = regexp.MustCompile(`(?m)^\s*(\d+) (pass|fail|error)s?$`)

func countBunSummary(report string) (t tally, err error) {
	found := bunSummary.FindAllStringSubmatch(report, -1)
	if len(found) == 0 {
		return t, errors.New("bun test ended without a summary")
	}
	for _, m := range found {
		n, _ := strconv.Atoi(m[1])
		if m[2] == "pass" {
			t.passed += n
		} else {
			t.failed += n
		}
	}
	return t, nil
}
