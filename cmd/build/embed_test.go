package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inRoot runs a test in the root of the repository, where the tool runs.
func inRoot(t *testing.T) {
	t.Helper()
	t.Chdir(".")
	if err := enterRoot(); err != nil {
		t.Fatal(err)
	}
}

// everyByte returns every byte value, at several positions.
func everyByte() []byte {
	var b []byte
	for i := range 256 {
		b = append(b, byte(i))
	}
	for i := range 256 {
		b = append(b, byte(255-i), 0xc8, byte(i))
	}
	return b
}

// In the built script, an import of a wasm file is a Uint8Array with the file's bytes. Node runs the script.
func TestEmbeddedBytesArriveUnchanged(t *testing.T) {
	inRoot(t)
	node, err := npmTool("node")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	want := everyByte()
	if err := os.WriteFile(filepath.Join(dir, "bytes.wasm"), want, 0o644); err != nil {
		t.Fatal(err)
	}
	entry := "import bytes from './bytes.wasm'\nconsole.log(bytes.constructor.name, Array.from(bytes, b => " +
		"b.toString(16).padStart(2, '0')).join(''))"
	if err := os.WriteFile(filepath.Join(dir, "entry.ts"), []byte(entry), 0o644); err != nil {
		t.Fatal(err)
	}
	out := scriptTag
	out.shorten = false // these bytes are no module, with exports to rename
	out.entry, out.out = filepath.Join(dir, "entry.ts"), filepath.Join(dir, "out.js")
	if err := build(out); err != nil {
		t.Fatal(err)
	}
	printed, err := exec.Command(node, out.out).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	if got := strings.TrimSpace(string(printed)); got != "Uint8Array "+hex.EncodeToString(want) {
		t.Errorf("the script saw %s", got)
	}
}

// A bundle over its budget fails and is not written. The message names the parts with their sizes, but no file that is
// not in the bundle.
func TestOverBudgetFailsWithTheSizes(t *testing.T) {
	small := target{out: "out.js", budget: 10}
	s := measure(small, []byte(`console.log("a text that is longer than the budget")`), &wasmParts{
		list: []wasmPart{{"core.wasm", []byte("wasm"), "longer"}, {"unused.wasm", []byte("wasm"), "shorter"}},
	}, `{"outputs":{"out.js":{"inputs":{"a.ts":{"bytesInOutput":30}}}}}`)
	var table bytes.Buffer
	if err := s.print(&table); err == nil || !strings.Contains(err.Error(), "over its budget of 10") {
		t.Errorf("print returned %v", err)
	}
	for _, part := range []string{"core.wasm", "JavaScript", "a.ts", "budget 10 brotli"} {
		if !strings.Contains(table.String(), part) {
			t.Errorf("the table does not name %q:\n%s", part, table.String())
		}
	}
	if strings.Contains(table.String(), "unused.wasm") {
		t.Errorf("the table names what is not in the bundle:\n%s", table.String())
	}
}

// The summaries that make test adds up are read from real excerpts of the runners' reports.
func TestTalliesFollowTheRunners(t *testing.T) {
	events := `{"Action":"run","Package":"p","Test":"A"}
{"Action":"pass","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Test":"B","Output":"no B\n"}
{"Action":"fail","Package":"p","Test":"B"}
{"Action":"skip","Package":"p","Test":"C"}
{"Action":"fail","Package":"p"}
{"ImportPath":"q","Action":"build-fail"}
{"Action":"fail","Package":"q","FailedBuild":"q"}
`
	ended := ""
	goTally, err := countGoEvents(json.NewDecoder(strings.NewReader(events)), func(e goEvent) { ended += e.Test })
	if want := (tally{passed: 1, failed: 2, skipped: 1, said: "no B\n"}); err != nil || goTally != want {
		t.Errorf("go test: %v, %v; want %v", goTally, err, want)
	}
	if ended != "ABC" {
		t.Errorf("the tests that ended are %s, want ABC", ended)
	}
	report := "ok\nℹ tests 5\nℹ suites 0\nℹ pass 2\nℹ fail 1\nℹ cancelled 1\nℹ skipped 1\nℹ todo 0\n"
	said := "✖ failing tests:\n✖ B (1ms)\n"
	nodeTally, err := countNodeSummary(strings.NewReader(report + said))
	if want := (tally{passed: 2, failed: 2, skipped: 1, said: said}); err != nil || nodeTally != want {
		t.Errorf("node --test: %v, %v; want %v", nodeTally, err, want)
	}
	if _, err := countNodeSummary(strings.NewReader("node died\n")); err == nil {
		t.Error("a report without a summary was taken for a passed run")
	}
}
