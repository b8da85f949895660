package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Each rule of fiberfill has an id, such as A-NEW-1, and a test that checks a rule has the id in its name. So the
// reports of the test runners show which rule is tested on which substrate. This file collects them: every test that
// ended, in any run, counts in a table of rules by substrates. make test fills the table from all its tests. make rules
// fills it from the tests that may have ids: all Go tests of the packages below, because subtests are unknown before
// they run, and Node's tests with an id in the name.

// substrates are the columns of the table. Lowered are modules with stack-switching instructions, which keep their
// stacks themselves.
var substrates = []string{"go", "wasm", "jspi", "wazero", "lowered"}

// packages maps the packages whose tests count to the substrate that they run on. The packages of go are run in wasm,
// too. A test for a different substrate has that substrate's name as an element of its own name: TestX/wasm/J-EXP-1.
var packages = map[string]string{
	"polyfill":             "go",
	"polyfill/run":         "go",
	"polyfill/conformance": "go",
	"internal/wheel":       "go",
	"asyncio":              "go",
	"asyncio/actors":       "go",
	"asyncio/tree":         "go",
	"asyncio/actors/wasm":  "wazero",
	"guest":                "wazero",
	"cmd/fiberfill":        "wazero",
	"e2e":                  "jspi",
}

const module = "github.com/fiberfill/fiberfill/"

func packagesOf(substrate string) (paths []string) {
	for path, s := range packages {
		if s == substrate {
			paths = append(paths, "./"+path)
		}
	}
	slices.Sort(paths)
	return paths
}

// rulesDocument contains the rules.
const rulesDocument = "docs/rules.md"

func rulesCommand(*flag.FlagSet) func() error {
	return func() error {
		table, err := newRuleTable()
		if err != nil {
			return err
		}
		if err := install("npm", "browsers"); err != nil {
			return err
		}
		var native []string
		for _, substrate := range substrates {
			native = append(native, packagesOf(substrate)...)
		}
		return runTests([]runner{
			{"build", func() (tally, error) { return checked(demo) }},
			{"go test", func() (tally, error) {
				return goTest(table.native, nil, slices.Concat([]string{"-p", "1", "-timeout", "40m"}, native)...)
			}},
			{"in wasm", func() (tally, error) { return wasmTests(table.wasm) }},
			{"node --test", func() (tally, error) {
				return nodeTests(table.node, "jsglue/", "--test-name-pattern=/"+ruleID+"/")
			}},
			{"rules", func() (tally, error) { return checked(table.print) }},
		})
	}
}

// ruleTable holds the results of the tests of each rule on each substrate.
type ruleTable struct {
	rules   []string // ids, in the order of the document
	exempt  []exemption
	cells   map[[2]string]*ruleCell // by rule and substrate
	strange map[string]string       // ids that are no rules, each with a test named for it
}

type ruleCell struct {
	passed   int
	failed   []string // tests
	expected string   // a test file that expects a refusal by the rule
	why      string   // the reason for the exemption
}

// newRuleTable reads the rules, and which refusals the sources of the tests expect.
func newRuleTable() (*ruleTable, error) {
	text, err := os.ReadFile(rulesDocument)
	if err != nil {
		return nil, err
	}
	t := tableOf(string(text), exemptions)
	if len(t.rules) == 0 {
		return nil, fmt.Errorf("%s has no rules", rulesDocument)
	}
	files, err := sources("")
	if err != nil {
		return nil, err
	}
	return t, t.readExpectations(files)
}

// A to E are the systems, S is the stack-switching proposal, J the border to JavaScript, K is common to all.
const ruleID = `\b(?:[ABCDEJS]-[A-Z]+|K)-[0-9]+\b`

var (
	ruleLine   = regexp.MustCompile(`(?m)^- (` + ruleID + `) `)
	ruleInName = regexp.MustCompile(ruleID)
)

func tableOf(document string, exempt []exemption) *ruleTable {
	t := &ruleTable{exempt: exempt, cells: map[[2]string]*ruleCell{}, strange: map[string]string{}}
	for _, m := range ruleLine.FindAllStringSubmatch(document, -1) {
		t.rules = append(t.rules, m[1])
		for _, substrate := range substrates {
			t.cells[[2]string{m[1], substrate}] = &ruleCell{}
		}
	}
	return t
}

// idsIn returns the ids in the name of a test. In a function's name _ stands for -, in a subtest's for a space.
func idsIn(name string) []string {
	function, subtest, _ := strings.Cut(name, "/")
	function = strings.ReplaceAll(strings.TrimPrefix(function, "Test"), "_", "-")
	return ruleInName.FindAllString(function+" "+strings.ReplaceAll(subtest, "_", " "), -1)
}

// native, wasm and node record the tests that ended in the three runs.
func (t *ruleTable) native(e goEvent) { t.goTest(e, packages[strings.TrimPrefix(e.Package, module)]) }

func (t *ruleTable) wasm(e goEvent) { t.goTest(e, "wasm") }

func (t *ruleTable) node(e nodeEvent) {
	substrate := "jspi"
	if ids := idsIn(e.Name); len(ids) > 0 && strings.HasPrefix(ids[0], "S-") {
		substrate = "lowered"
	}
	if e.Ran {
		t.add(substrate, e.Name, e.Passed)
	}
}

func (t *ruleTable) goTest(e goEvent, substrate string) {
	for element := range strings.SplitSeq(e.Test, "/") {
		if slices.Contains(substrates, element) {
			substrate = element
		}
	}
	if substrate != "" && e.Action != "skip" {
		t.add(substrate, e.Test, e.Action == "pass")
	}
}

func (t *ruleTable) add(substrate, test string, passed bool) {
	for _, id := range idsIn(test) {
		switch cell := t.cells[[2]string{id, substrate}]; {
		case cell == nil:
			t.strange[id] = test
		case passed:
			cell.passed++
		default:
			cell.failed = append(cell.failed, test)
		}
	}
}
