package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const someRules = `
## 1. Rules
- K-1 [S] One is active. See also A-NEW-1.
- A-NEW-1 [S] A fiber is made.
- A-NEW-2 [D] Once.
- J-EXP-1 [S] A Promise.
- S-NEW-1 [S] A continuation is made.
Not a rule: - B-NEW-1 stands in the middle of a line.
`

// goEnds calls seen with ends of tests in a package, given by action and name.
func goEnds(seen func(goEvent), pkg string, ends ...string) {
	for _, end := range ends {
		action, test, _ := strings.Cut(end, " ")
		seen(goEvent{Action: action, Package: module + pkg, Test: test})
	}
}

func reportOf(t *ruleTable) (text string, err error) {
	var out bytes.Buffer
	err = t.report(&out)
	return out.String(), err
}

func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

func TestRuleTableFollowsTheRunners(t *testing.T) {
	table := tableOf(someRules, nil)
	if got := strings.Join(table.rules, " "); got != "K-1 A-NEW-1 A-NEW-2 J-EXP-1 S-NEW-1" {
		t.Fatalf("the rules are %s", got)
	}
	goEnds(table.native, "polyfill/run", "pass TestK_1_one", "pass TestX/A-NEW-1_A-NEW-2_two_of_them",
		"fail TestY/A-NEW-2/deeper", "skip TestZ/J-EXP-1", "pass TestA_NEW_11", "pass TestXA-NEW-1",
		"pass TestDemo/S-SLEEP_50_ms")
	goEnds(table.native, "polyfill/run", "pass TestJS/wasm/J-EXP-1_in_a_wasm_of_its_own")
	goEnds(table.wasm, "polyfill/run", "pass TestK_1_one")
	goEnds(table.native, "e2e", "pass TestJ_EXP_1_EveryCall")
	goEnds(table.native, "cmd/fiberfill", "pass TestK_1")
	goEnds(table.native, "cmd/build", "fail TestX/K-1_of_a_package_that_does_not_count")
	table.node(nodeEvent{Name: "A-NEW-1 K-1: both", Passed: true, Ran: true})
	table.node(nodeEvent{Name: "A-NEW-2 to do", Passed: true})
	table.node(nodeEvent{Name: "S-NEW-1: of a lowered module", Passed: true, Ran: true})
	table.node(nodeEvent{Name: "S-SLEEP J-EXP-1: a scenario", Passed: true, Ran: true}) // no rule of S
	text, err := reportOf(table)
	if err == nil {
		t.Error("a failed test, and rules without one, are no error")
	}
	has(t, text,
		"rule K-1 go=pass wasm=pass jspi=pass wazero=pass lowered=missing",
		"rule A-NEW-1 go=pass wasm=missing jspi=pass wazero=missing lowered=missing",
		"rule A-NEW-2 go=FAIL wasm=missing jspi=missing wazero=missing lowered=missing",
		"rule J-EXP-1 go=missing wasm=pass jspi=pass wazero=missing lowered=missing",
		"rule S-NEW-1 go=missing wasm=missing jspi=missing wazero=missing lowered=pass",
		"FAIL A-NEW-2 on go: TestY/A-NEW-2/deeper",
		"A-NEW-11 is no rule; a test named for it: TestA_NEW_11",
		"go               2       0       2       1",
	)
}

func TestRuleTableExemptions(t *testing.T) {
	whole := func(exempt ...exemption) *ruleTable {
		table := tableOf(someRules, exempt)
		for _, substrate := range substrates {
			table.add(substrate, "A-NEW-1 A-NEW-2 S-NEW-1", true)
		}
		table.add("jspi", "J-EXP-1", true)
		table.add("go", "K-1", true)
		return table
	}
	right := []exemption{
		{"go wasm wazero lowered", "J-EXP-*", "No Promises."},
		{"wasm jspi wazero lowered", "K-1", "Well."},
	}
	text, err := reportOf(whole(right...))
	if err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	has(t, text, "rule J-EXP-1 go=exempt wasm=exempt jspi=pass wazero=exempt lowered=exempt",
		"rule K-1 go=pass wasm=exempt jspi=exempt wazero=exempt lowered=exempt")

	for _, wrong := range []struct {
		exemption exemption
		want      string
	}{
		{exemption{"go", "A-NEW-*", "Stale."}, "the exemption of A-NEW-2 on go is not needed: a test checks the rule"},
		{exemption{"go", "A-OLD-1", "Unknown."}, "the exemption of A-OLD-1 matches no rule"},
		{exemption{"go", "A-OLD-*", "Unknown."}, "the exemption of A-OLD-* matches no rule"},
		{exemption{"java", "J-EXP-1", "Unknown."}, `the exemption of J-EXP-1 names "java", which is no substrate`},
		{exemption{"go", "J-EXP-1", "Again."}, "J-EXP-1 is exempt twice on go"},
		{exemption{"", "J-EXP-1", ""}, "the exemption of J-EXP-1 has no reason"},
	} {
		text, err := reportOf(whole(append(right, wrong.exemption)...))
		if err == nil {
			t.Errorf("%+v is no error", wrong.exemption)
		}
		has(t, text, wrong.want)
	}

	if _, err := reportOf(whole(right[0])); err == nil {
		t.Error("a missing test is no error")
	}
	expecting := whole(right...)
	source := `[1, "fibers1.new refused: no [A-NEW-1]"], [2, "x refused: null reference [K-1]"]`
	expecting.expect("jsglue/x_test.mjs", source, []string{"jspi"})
	text, err = reportOf(expecting)
	if err == nil {
		t.Error("an exemption covers a test that expects a refusal")
	}
	has(t, text, "the exemption of K-1 on jspi is not needed: jsglue/x_test.mjs expects its refusal; "+
		"name the test for the rule")
	failing := whole(right...)
	failing.add("wazero", "K-1", false)
	text, err = reportOf(failing)
	if err == nil {
		t.Error("an exemption covers a failed test")
	}
	has(t, text, "rule K-1 go=pass wasm=exempt jspi=exempt wazero=FAIL lowered=exempt")
}

// The reporter reports real tests in Node the way the table reads them.
func TestNodeReporter(t *testing.T) {
	node, err := filepath.Abs("../../node_modules/.bin/node")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source := `import { describe, test } from "node:test";
test("K-1: good", () => {});
describe("group", () => { test("A-NEW-1: bad", () => { throw new Error("no"); }); });
test.skip("A-NEW-2: not run", () => {});
test.todo("J-EXP-1: later");
`
	file, ends := filepath.Join(dir, "x_test.mjs"), filepath.Join(dir, "ends.json")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	reporter, err := filepath.Abs("reporter.mjs")
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(node, "--test", "--test-reporter="+reporter, "--test-reporter-destination="+ends, file)
	if out, err := run.CombinedOutput(); err == nil {
		t.Errorf("a failed test ends with status 0:\n%s", out)
	}
	table := tableOf(someRules, nil)
	if err := readNodeEvents(ends, table.node); err != nil {
		t.Fatal(err)
	}
	text, _ := reportOf(table)
	has(t, text,
		"rule K-1 go=missing wasm=missing jspi=pass wazero=missing lowered=missing",
		"rule A-NEW-1 go=missing wasm=missing jspi=FAIL wazero=missing lowered=missing",
		"rule A-NEW-2 go=missing wasm=missing jspi=missing wazero=missing lowered=missing",
		"rule J-EXP-1 go=missing wasm=missing jspi=missing wazero=missing lowered=missing",
	)
	if err := os.WriteFile(ends, []byte("{not json"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := readNodeEvents(ends, table.node); err == nil {
		t.Error("a report that breaks off was taken for a whole one")
	}
}

func TestColumnsOf(t *testing.T) {
	for file, want := range map[string]string{
		"polyfill/run/ends_test.go":  "go wasm",
		"guest/proposal_test.go":     "wazero",
		"e2e/rules_test.go":          "jspi",
		"jsglue/proposals_test.mjs":  "jspi",
		"jsglue/test/arena_test.mjs": "jspi",
		"polyfill/machine.go":        "",
		"cmd/build/rules_test.go":    "",
		"web/npm/package_test.mjs":   "",
	} {
		if got := strings.Join(columnsOf(file), " "); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// docs/rules.md has each id once, with the anchor that messages link to. Each code block is in the file that it names.
func TestRulesDocument(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile(rulesDocument)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, rule := range tableOf(string(text), nil).rules {
		if seen[rule] {
			t.Errorf("%s is there twice", rule)
		}
		seen[rule] = true
		if n := strings.Count(string(text), `<a id="`+strings.ToLower(rule)+`"></a>`); n != 1 {
			t.Errorf("%s has %d anchors, want 1", rule, n)
		}
	}
	for _, id := range ruleInName.FindAllString(string(text), -1) {
		if !seen[id] {
			t.Errorf("%s is cited and is no rule", id)
		}
	}
	blocks := regexp.MustCompile("(?ms)^```(?:c|wat) (\\S+)\n(.*?)^```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 5 || len(blocks)*2 != strings.Count(string(text), "```") {
		t.Errorf("%d blocks of code name their file", len(blocks))
	}
	for _, block := range blocks {
		source, err := os.ReadFile(block[1])
		if err != nil {
			t.Error(err)
		}
		if !strings.Contains(string(source), block[2]) {
			t.Errorf("%s does not have\n%s", block[1], block[2])
		}
	}
}

// docs/proposals.md says what became of every rule of the five documents, and of today's proposal.
func TestProposalsDocument(t *testing.T) {
	t.Chdir("../..")
	rules, err := os.ReadFile(rulesDocument)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("docs/proposals.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range tableOf(string(rules), nil).rules {
		if link := "[" + rule + "](rules.md#" + strings.ToLower(rule) + ")"; !strings.Contains(string(text), link) &&
			!strings.HasPrefix(rule, "K-") && !strings.HasPrefix(rule, "J-") { // which belong to none of them
			t.Errorf("docs/proposals.md lacks %s", link)
		}
	}
}

// Every rule that a source of the project cites exists, so that a reader can look up the rule that a trap names.
func TestCitedRulesExist(t *testing.T) {
	t.Chdir("../..")
	table, err := newRuleTable()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, rule := range table.rules {
		known[rule] = true
	}
	files, err := sources("")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		switch filepath.Ext(file) {
		case ".go", ".ts", ".mjs", ".js", ".c", ".h", ".wat", ".md", ".txt", ".json":
		default:
			continue
		}
		if strings.HasPrefix(filepath.ToSlash(file), "cmd/build/rules") {
			continue // this file cites invented rules
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ruleInName.FindAllString(string(source), -1) {
			if !known[id] {
				t.Errorf("%s cites %s, which is no rule", file, id)
			}
		}
	}
}
