package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// The rules that fiberfill keeps have ids, like A-NEW-1, and a test that checks a rule carries its id in its name. Which
// rule is tested on which substrate is therefore in the reports of the test runners, and this file reads it off them: every
// test that ended, in whatever run, is a line of a table of rules by substrates. make test fills the table as it goes along;
// make rules runs only the tests that may carry ids.

// substrates are the columns of the table.
var substrates = []string{"go", "wasm", "jspi", "wazero"}

// packages are those whose tests count, by the substrate that they run on. The packages of go are run in wasm, too. A test
// of another substrate than its package's has that one's name among the elements of its own: TestX/wasm/J-EXP-1.
var packages = map[string]string{
	"polyfill":             "go",
	"polyfill/run":         "go",
	"polyfill/conformance": "go",
	"internal/wheel":       "go",
	"asyncio":              "go",
	"asyncio/actors":       "go",
	"asyncio/tree":         "go",
	"asyncio/actors/wasm":  "wazero",
	"internal/guest":       "wazero",
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

// rulesDocument is where the rules stand: beside the repository, since the documents that they digest are not its own.
const rulesDocument = "../shared/spec/rules.md"

// unnamed are the slow tests of those packages that carry no id, which make rules does without. If one is missing here it
// costs time; if one is here too many its rules are missing.
const unnamed = "^Test(Random|ThousandFibers|JS_thousand.*|Demo.*|Readme.*|SQLite.*|Go.*|Cost.*|TenThousand.*|Harness.*|First.*|ATurn.*)$"

func rulesCommand(*flag.FlagSet) func() error {
	return func() error {
		if !exists(rulesDocument) {
			return fmt.Errorf("%s is not there: it has the rules, and make rules asks for each whether it is tested", rulesDocument)
		}
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
				return goTest(table.native, nil, slices.Concat([]string{"-p", "1", "-skip", unnamed}, native)...)
			}},
			{"in wasm", func() (tally, error) { return wasmTests(table.wasm, "-skip", unnamed) }},
			{"node --test", func() (tally, error) {
				return nodeTests(table.node, "jsglue/", "--test-name-pattern=/"+ruleID+"/")
			}},
			{"rules", func() (tally, error) { return checked(table.print) }},
		})
	}
}

// ruleTable says what became of the tests of each rule on each substrate.
type ruleTable struct {
	rules   []string // ids, in the order of the document
	exempt  []exemption
	cells   map[[2]string]*ruleCell // by rule and substrate
	strange map[string]string       // ids of no rule, with a test that carries it
}

type ruleCell struct {
	passed int
	failed []string // tests
	why    string   // the sentence of the exemption
}

// newRuleTable reads the rules. Without the document the table is empty, and says so when it is printed.
func newRuleTable() (*ruleTable, error) {
	text, err := os.ReadFile(rulesDocument)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return tableOf(string(text), exemptions), nil
}

const ruleID = `\b(?:[ABCDEJ]-[A-Z]+|K)-[0-9]+\b`

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

// idsIn returns the ids in the name of a test, where an identifier has _ for -.
func idsIn(name string) []string {
	name = strings.ReplaceAll(strings.TrimPrefix(name, "Test"), "_", "-")
	return ruleInName.FindAllString(name, -1)
}

// native, wasm and node take the tests that ended in the three runs.
func (t *ruleTable) native(e goEvent) { t.goTest(e, packages[strings.TrimPrefix(e.Package, module)]) }

func (t *ruleTable) wasm(e goEvent) { t.goTest(e, "wasm") }

func (t *ruleTable) node(e nodeEvent) {
	if e.Ran {
		t.add("jspi", e.Name, e.Passed)
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
