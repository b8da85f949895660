// Package engines says which tests of jsglue run in which engines on stacks of fiberfill's own.
//
// The project's Node has JSPI, and runs all files of jsglue/test on it. Stacks of fiberfill's own keep the same
// promises, so the files about fibers run again in engines that have no working JSPI, or from which it is hidden.
// Browsers run the files that need nothing from Node but its files (the pages of e2e provide these).
//
// Tests that an engine cannot pass are left out by name, with the reason. Stale fails when a name has no test any more.
package engines

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// An Engine is where the tests run.
type Engine string

const (
	Hidden   Engine = "JSPI hidden" // the project's Node, without its JSPI
	Node22   Engine = "Node 22"
	Node24   Engine = "Node 24"
	Bun12    Engine = "Bun 1.2"
	Chromium Engine = "Chromium"
	Firefox  Engine = "Firefox"
	WebKit   Engine = "WebKit" // WebKitGTK
)

// Browsers are those that run files of tests, and pages that report by themselves.
var Browsers = []Engine{Chromium, Firefox, WebKit}

// fibers are the files of tests about fibers, by the part of the name before _test.mjs.
var fibers = []string{
	"actors", "actors_guest", "arena", "arena_cancel", "bad_stacks", "border", "cancel", "deliver", "exceptions",
	"frames", "held", "inside", "jspi", "jspi_stacks", "legacy", "linked", "npm", "object", "onestack", "options",
	"overlap", "plain", "proposals", "proposals_bad", "proposals_entries", "proposals_plain", "realms", "recursion",
	"room", "scenarios", "serial", "tables", "wirings", "yields",
}

// instructions are the files of the stack-switching instructions, which need no JSPI. The project's Node runs them with
// all others; TestInstructions of e2e runs in browsers those that can run there.
var instructions = []string{
	"barriers", "instructions_binary", "instructions_host", "instructions_resume", "instructions_switch",
	"instructions_throw", "instructions_types", "lower_ground", "lower_limits", "lower_spare", "lower", "lower_traps",
	"lower_world",
}

// needsNode are the files that start processes, make contexts, load packages as Node does, collect garbage, or make a
// thousand instances, for whose memories a page has no room.
var needsNode = []string{"jspi", "npm", "actors_guest", "held", "realms"}

// takesLong are files that make hundreds of guests, which JavaScriptCore compiles one by one, or that give the event
// loop thousands of turns, for which WebKit asks another process. They run in Bun 1.2, which has the same engine; of
// what they test, WebKit has the conformance suite and the page of the scenarios.
var takesLong = []string{"onestack", "proposals", "proposals_bad", "scenarios", "wirings", plainly}

// plainly plays the files of guests with fibers of their own once more. Where JavaScriptCore compiles each of these
// guests, it takes ten minutes; e2e plays the conformance suite in the same way in Bun 1.2.
const plainly = "proposals_plain"

// Files returns the paths of the files that run in an engine, from the project's folder.
func (e Engine) Files() []string {
	var names []string
	switch e {
	case Hidden:
		names = fibers
	case Chromium, Firefox:
		names = without(fibers, needsNode...)
	case WebKit:
		names = without(fibers, slices.Concat(takesLong, needsNode)...)
	case Bun12:
		names = without(slices.Concat(fibers, instructions), plainly)
	default:
		names = slices.Concat(fibers, instructions)
	}
	return paths(names)
}

// paths returns the files with these names.
func paths(names []string) (files []string) {
	for _, name := range names {
		files = append(files, filepath.Join("jsglue", "test", name+"_test.mjs"))
	}
	return files
}

func without(names []string, out ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(out, name) })
}

// A leftOut stands for tests that an engine cannot pass: those with this text in their names, or in their group's name.
type leftOut struct {
	text, why string
	engines   []Engine // all, if there is none
}

const (
	rawJSPI       = "it is about the platform's own JSPI"
	noExport      = "on stacks of our own promising takes exports only: others are refused when they would wait"
	bunRejections = "Bun's runner takes unhandled rejections for itself, before the test can"
	nodeFlags     = "it starts Node with flags that this engine lacks"
	no64          = "these engines have no 64-bit memories"
	noTable64     = "these engines have no tables with 64-bit indices"
	bunCaught     = "Bun 1.2's optimising compiler goes astray where exceptions are caught; without it, it passes"
)

// leftOuts are all tests that are left out.
var leftOuts = []leftOut{
	{"the guest notices when its calls share a stack, as on raw JSPI", rawJSPI, nil},
	{"in deliver nothing can wait below the platform's promising, and no fiber is harmed", rawJSPI, nil},
	{"a Suspending made here works with the platform, and the platform's functions with our promising", rawJSPI, nil},
	{"a Suspending made elsewhere works as on raw JSPI, beside those made here", rawJSPI, nil},
	{"what promising returns has the same name and length as the platform's", rawJSPI, nil},
	{"exports that fiberfill adds to a guest for itself are hidden", rawJSPI, nil},
	{"the namespace and Suspending look like the platform's", rawJSPI, nil},
	{"on JSPI a plain call may make fibers, but not enter them", "on stacks of our own it may enter them", nil},
	{"a function that is not an export works as on raw JSPI, even below a running fiber", noExport, nil},
	{"while a function that is not an export waits on a guest's only stack, plain calls spare", noExport, nil},
	{"functions that are not exports have shadow stacks of their own, beside those of fibers", noExport, nil},
	{"imports that the platform provides, builtins and strings, work beside those that wait",
		"these engines have no string constants to import", []Engine{Node22, Bun12}},
	{"a guest whose stack lies in a 64-bit memory serves one call at a time", no64, []Engine{Bun12, WebKit}},
	{"what lies in a table with 64-bit indices", noTable64, []Engine{Node22, Bun12, WebKit}},
	{"a guest whose stack pointer is unknown is no worse off than on raw JSPI", no64, []Engine{Bun12, WebKit}},
	{"try, catch, delegate and rethrow, waiting or not",
		"JavaScriptCore's older exceptions are no oracle: delegate goes astray in it", []Engine{Bun12, WebKit}},
	{"when the error is a string, further errors become unhandled rejections", bunRejections, []Engine{Bun12}},
	{"an error to which nothing can be attached does not keep its arena from ending", bunRejections,
		[]Engine{Bun12}},
	{"a wait for an arena that waits for the fiber is refused, and leaves nothing unhandled", bunRejections,
		[]Engine{Bun12}},
	{"an engine that has the instructions runs them itself", nodeFlags, []Engine{Node22, Node24, Bun12}},
	{"more frames than the heap has room for end in an error", nodeFlags, []Engine{Bun12}},
	{"a tag that is exported again is the same object", "JavaScriptCore itself makes a new object for each export",
		[]Engine{Bun12, WebKit}},
	{"exports are the functions themselves: the same that a table has",
		"Bun 1.2 itself makes a new object for each export, and for each look into a table", []Engine{Bun12}},
	{"the memory of a guest that has yielded is collected when nobody uses it",
		"a page cannot collect garbage on demand", Browsers},
	{"run is not idle if the condition, or the page in its turn, sent something",
		"messages of two channels arrive in any order in WebKit, so the page may send too late", []Engine{WebKit}},
	{"the payload is the receiver's own copy, whatever kind of bytes", "these pages have no SharedArrayBuffer",
		Browsers},
	{"in a copy by structuredClone", "Bun 1.2 cannot copy modules", []Engine{Bun12}},
	{"so it is at any depth, whichever imports the fibers of two guests yield by", bunCaught, []Engine{Bun12}},
	{"which JavaScript has none of, ends its fiber", bunCaught, []Engine{Bun12}},
}

// LeftOut returns texts that are in the names of the tests that an engine cannot pass.
func (e Engine) LeftOut() (texts []string) {
	for _, l := range leftOuts {
		if l.engines == nil || slices.Contains(l.engines, e) {
			texts = append(texts, l.text)
		}
	}
	return texts
}

// LeftOutPatterns returns regular expressions for the same.
func (e Engine) LeftOutPatterns() (patterns []string) {
	for _, text := range e.LeftOut() {
		patterns = append(patterns, regexp.QuoteMeta(text))
	}
	return patterns
}

// Stale returns an error if a test that is left out does not exist any more, so that the list is shortened. It takes
// the project's folder.
func Stale(project string) error {
	var all []byte
	for _, file := range paths(slices.Concat(fibers, instructions)) {
		text, err := os.ReadFile(filepath.Join(project, file))
		if err != nil {
			return err
		}
		all = append(all, text...)
	}
	for _, l := range leftOuts {
		if !bytes.Contains(all, []byte(l.text)) {
			return fmt.Errorf("leftOuts in internal/engines: no test has %q in its name", l.text)
		}
	}
	return nil
}
