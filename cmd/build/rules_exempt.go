package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// exemptions are the rules that have no test on a substrate, with why not.
var exemptions = []exemption{
	{"go wasm jspi wazero", "S-*", "These are WebAssembly's own instructions: what has them is a module that has been lowered, and nothing else."},
	{"lowered", "A-* B-* C-* D-* E-* J-* K-*", "The operations of the other systems are imports: no guest of theirs is lowered."},
	{"go wazero", "J-EXP-* J-IMP-*", "These are about calls from JavaScript and its Promises. There is none: Go calls exports and is called by imports."},
	{"wasm", "J-IMP-4", "Go says itself where it waits: what a function returns is there at once, and asyncio.Await of what is no Promise takes " +
		"a round of the microtasks, as JavaScript's await does."},
	{"jspi", "J-COST-1", "On JSPI a resume is a microtask: only the engine's stack switching itself could do without."},
}

// refusal is how the tests write what a refused operation says: "fibers1.block refused: ... [A-HDL-4]".
var refusal = regexp.MustCompile(`refused: .*\[(` + ruleID + `)\]`)

// readExpectations notes which refusals the tests of each substrate expect. An exemption of such a rule is void, whatever
// the names of the tests are.
func (t *ruleTable) readExpectations(files []string) error {
	for _, file := range files {
		file = filepath.ToSlash(file)
		columns := columnsOf(file)
		if len(columns) == 0 {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		t.expect(file, string(source), columns)
	}
	return nil
}

func (t *ruleTable) expect(file, source string, columns []string) {
	for _, m := range refusal.FindAllStringSubmatch(source, -1) {
		for _, substrate := range columns {
			if cell := t.cells[[2]string{m[1], substrate}]; cell != nil {
				cell.expected = file
			}
		}
	}
}

// columnsOf returns the substrates that the tests in a file run on: none if it has no tests that count.
func columnsOf(file string) []string {
	switch substrate := packages[path.Dir(file)]; {
	case strings.HasPrefix(file, "jsglue/") && strings.HasSuffix(file, "_test.mjs"):
		return []string{"jspi"}
	case !strings.HasSuffix(file, "_test.go") || substrate == "":
		return nil
	case substrate == "go":
		return []string{"go", "wasm"}
	default:
		return []string{substrate}
	}
}
