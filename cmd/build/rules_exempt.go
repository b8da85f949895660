package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// exemptions are the rules without a test on some substrate, with the reason.
var exemptions = []exemption{
	{"go wasm jspi wazero", "S-*", "These are instructions of WebAssembly itself. Only lowered modules have them."},
	{"lowered", "A-* B-* C-* D-* E-* J-* K-*", "The operations of the other systems are imports. " +
		"Their guests are not " +
		"lowered."},
	{"go wazero", "J-EXP-* J-IMP-*", "These rules are about JavaScript's calls and Promises. Here Go makes the calls."},
	{"wasm", "J-IMP-4", "Go code waits explicitly, so a function's result is there at once; asyncio.Await of a value " +
		"that is no Promise takes a round of microtasks, like JavaScript's await."},
}

// refusal matches the expected message of a refused operation in a test: "fibers1.block refused: ... [A-HDL-4]".
var refusal = regexp.MustCompile(`refused: .*\[(` + ruleID + `)\]`)

// readExpectations notes which refusals the tests of each substrate expect. Such a rule cannot be exempt, whatever its
// tests are called.
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

// columnsOf returns the substrates that the tests in a file run on; none if the file has no tests that count.
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
