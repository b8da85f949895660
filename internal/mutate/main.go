// Command mutate breaks the rules of systems A and B, one edit at a time, and
// shows that the tests named for the rule notice:
//
//	go run ./polyfill/internal/mutate
//
// Each [mutation] is an edit of a source file, applied by the go command's
// -overlay, so that the work tree stays as it is. The suite's test binary is
// built with the edit, and for each rule that the edit breaks the cases with its
// id in their names are run: one of them must fail. It prints a line a rule and
// ends with status 1 if a rule is left unbroken, or broken and not noticed.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fiberfill/fiberfill/polyfill/conformance"
)

// mutation is one edit and the rules that it breaks.
type mutation struct {
	rules    string
	file     string // below polyfill/
	old, new string // old stands in the file once
}

const suite = "./polyfill/conformance"

func main() {
	if err := prove(); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func prove() error {
	known, err := rules()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	noticed := map[string][]string{}
	bad := 0
	for i, m := range mutations {
		if len(os.Args) > 1 && !strings.Contains(m.rules+" ", os.Args[1]+" ") {
			continue
		}
		binary, err := build(dir, i, m)
		if err != nil {
			return fmt.Errorf("mutation %d, %q in %s: %w", i, m.new, m.file, err)
		}
		for _, rule := range strings.Fields(m.rules) {
			tests := failing(binary, rule)
			if len(tests) == 0 {
				fmt.Printf("NOT NOTICED %s, broken by %q for %q in %s\n", rule, m.new, m.old, m.file)
				bad++
			}
			noticed[rule] = append(noticed[rule], tests...)
		}
		os.Remove(binary)
	}
	for _, rule := range known {
		tests := noticed[rule]
		slices.Sort(tests)
		tests = slices.Compact(tests)
		if len(tests) == 0 && len(os.Args) == 1 {
			fmt.Printf("mutation %s: no mutation breaks it\n", rule)
			bad++
		}
		if len(tests) > 0 {
			fmt.Printf("mutation %s: noticed by %s\n", rule, strings.Join(tests, "; "))
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d rules are not proved", bad)
	}
	return nil
}

// rules returns the ids of the systems' rules that the suite has cases for.
func rules() (ids []string, err error) {
	cases, err := conformance.Suite()
	for _, c := range cases {
		for _, rule := range c.Rules {
			if strings.IndexByte("ABCD", rule[0]) >= 0 {
				ids = append(ids, rule)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// edit returns where the file is, and what it is with the edit.
func (m mutation) edit() (path string, edited []byte, err error) {
	if path, err = filepath.Abs(filepath.Join("polyfill", m.file)); err != nil {
		return "", nil, err
	}
	source, err := os.ReadFile(path)
	if n := bytes.Count(source, []byte(m.old)); err == nil && n != 1 {
		err = fmt.Errorf("%q stands in %s %d times, not once", m.old, m.file, n)
	}
	return path, bytes.Replace(source, []byte(m.old), []byte(m.new), 1), err
}

// build compiles the suite with the edit.
func build(dir string, i int, m mutation) (binary string, err error) {
	path, source, err := m.edit()
	if err != nil {
		return "", err
	}
	edited := filepath.Join(dir, "edited.go")
	if err := os.WriteFile(edited, source, 0o644); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: edited}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o644); err != nil {
		return "", err
	}
	binary = filepath.Join(dir, fmt.Sprintf("suite%d.test", i))
	out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", list, "-o", binary, suite).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: TestSuite/(\S+)`)

// failing returns the cases named for the rule that fail; a run that crashes or
// hangs counts as one.
func failing(binary, rule string) (tests []string) {
	run := exec.Command(binary, "-test.run", "^TestSuite$/(^|_)"+rule+"_", "-test.timeout", "10s")
	out, err := run.CombinedOutput()
	if err == nil {
		return nil
	}
	for _, m := range failed.FindAllStringSubmatch(string(out), -1) {
		tests = append(tests, m[1])
	}
	if len(tests) == 0 {
		tests = []string{"a crash of the cases of " + rule}
	}
	return tests
}
