package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const someRules = `
## 1. Rules
- K-1 [S] One is active. See also A-NEW-1.
- A-NEW-1 [S] A fiber is made.
- A-NEW-2 [D] Once.
- J-EXP-1 [S] A Promise.
Not a rule: - B-NEW-1 stands in the middle of a line.
`

// goEnds has ends of tests in a package seen, by action and name.
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
	if got := strings.Join(table.rules, " "); got != "K-1 A-NEW-1 A-NEW-2 J-EXP-1" {
		t.Fatalf("the rules are %s", got)
	}
	goEnds(table.native, "polyfill/run", "pass TestK_1_one", "pass TestX/A-NEW-1_A-NEW-2_two_of_them", "fail TestY/A-NEW-2/deeper",
		"skip TestZ/J-EXP-1", "pass TestA_NEW_11", "pass TestXA-NEW-1")
	goEnds(table.native, "polyfill/run", "pass TestJS/wasm/J-EXP-1_in_a_wasm_of_its_own")
	goEnds(table.wasm, "polyfill/run", "pass TestK_1_one")
	goEnds(table.native, "e2e", "pass TestJ_EXP_1_EveryCall")
	goEnds(table.native, "cmd/fiberfill", "pass TestK_1")
	goEnds(table.native, "cmd/build", "fail TestX/K-1_of_a_package_that_does_not_count")
	table.node(nodeEvent{Name: "A-NEW-1 K-1: both", Passed: true, Ran: true})
	table.node(nodeEvent{Name: "A-NEW-2 to do", Passed: true})
	text, err := reportOf(table)
	if err == nil {
		t.Error("a failed test, and rules without one, are no error")
	}
	has(t, text,
		"rule K-1 go=pass wasm=pass jspi=pass wazero=pass",
		"rule A-NEW-1 go=pass wasm=missing jspi=pass wazero=missing",
		"rule A-NEW-2 go=FAIL wasm=missing jspi=missing wazero=missing",
		"rule J-EXP-1 go=missing wasm=pass jspi=pass wazero=missing",
		"FAIL A-NEW-2 on go: TestY/A-NEW-2/deeper",
		"A-NEW-11 is no rule; a test that carries it: TestA_NEW_11",
		"go               2       0       1       1",
	)
}

func TestRuleTableExemptions(t *testing.T) {
	whole := func(exempt ...exemption) *ruleTable {
		table := tableOf(someRules, exempt)
		for _, substrate := range substrates {
			table.add(substrate, "A-NEW-1 A-NEW-2", true)
		}
		table.add("jspi", "J-EXP-1", true)
		table.add("go", "K-1", true)
		return table
	}
	right := []exemption{{"go wasm wazero", "J-EXP-*", "No Promises."}, {"wasm jspi wazero", "K-1", "Well."}}
	text, err := reportOf(whole(right...))
	if err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	has(t, text, "rule J-EXP-1 go=exempt wasm=exempt jspi=pass wazero=exempt", "rule K-1 go=pass wasm=exempt jspi=exempt wazero=exempt")

	for _, wrong := range []struct {
		exemption exemption
		want      string
	}{
		{exemption{"go", "A-NEW-*", "Stale."}, "the exemption of A-NEW-2 on go is not needed: a test checks it"},
		{exemption{"go", "A-OLD-1", "Unknown."}, "the exemption of A-OLD-1 is of no rule"},
		{exemption{"go", "A-OLD-*", "Unknown."}, "the exemption of A-OLD-* is of no rule"},
		{exemption{"java", "J-EXP-1", "Unknown."}, `the exemption of J-EXP-1 names "java", which is no substrate`},
		{exemption{"go", "J-EXP-1", "Again."}, "J-EXP-1 is exempt twice on go"},
		{exemption{"", "J-EXP-1", ""}, "the exemption of J-EXP-1 says not why"},
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
	failing := whole(right...)
	failing.add("wazero", "K-1", false)
	text, err = reportOf(failing)
	if err == nil {
		t.Error("an exemption covers a failed test")
	}
	has(t, text, "rule K-1 go=pass wasm=exempt jspi=exempt wazero=FAIL")
}

// The reporter tells of real tests in Node what the table reads.
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
		"rule K-1 go=missing wasm=missing jspi=pass wazero=missing",
		"rule A-NEW-1 go=missing wasm=missing jspi=FAIL wazero=missing",
		"rule A-NEW-2 go=missing wasm=missing jspi=missing wazero=missing",
		"rule J-EXP-1 go=missing wasm=missing jspi=missing wazero=missing",
	)
	if err := os.WriteFile(ends, []byte("{not json"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := readNodeEvents(ends, table.node); err == nil {
		t.Error("a report that breaks off was taken for a whole one")
	}
}
