package main

import (
	"bytes"
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

// mutations are the edits, those of the machine first.
var mutations = slices.Concat(machine, fibers1, fibers2, stacks, cont)

const suite = "./polyfill/conformance"

// proveRules makes the mutations and prints a line a rule. It returns how many rules are not proved.
func proveRules(only string) (unproved int, err error) {
	known, err := rules()
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	noticed := map[string][]string{}
	for _, m := range mutations {
		if !strings.Contains(m.rules+" "+m.path(), only) {
			continue
		}
		edited, err := m.edit()
		if err != nil {
			return 0, err
		}
		binary, err := build(dir, suite, m.path(), edited)
		if err != nil {
			return 0, fmt.Errorf("%q in %s: %w", m.new, m.file, err)
		}
		for rule := range strings.FieldsSeq(m.rules) {
			tests := failing(binary, rule)
			if len(tests) == 0 {
				fmt.Printf("NOT NOTICED %s, broken by %q for %q in %s\n", rule, m.new, m.old, m.file)
				unproved++
			}
			noticed[rule] = append(noticed[rule], tests...)
		}
	}
	for _, rule := range known {
		tests := noticed[rule]
		slices.Sort(tests)
		tests = slices.Compact(tests)
		if len(tests) == 0 && only == "" {
			fmt.Printf("mutation %s: no mutation breaks it\n", rule)
			unproved++
		}
		if len(tests) > 0 {
			fmt.Printf("mutation %s: noticed by %s\n", rule, strings.Join(tests, "; "))
		}
	}
	return unproved, nil
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

func (m mutation) path() string { return filepath.Join("polyfill", m.file) }

// edit returns what the file is with the edit.
func (m mutation) edit() ([]byte, error) {
	source, err := os.ReadFile(m.path())
	if n := bytes.Count(source, []byte(m.old)); err == nil && n != 1 {
		err = fmt.Errorf("%q stands in %s %d times, not once", m.old, m.file, n)
	}
	return bytes.Replace(source, []byte(m.old), []byte(m.new), 1), err
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: TestSuite/(\S+)`)

// failing returns the cases named for the rule that fail; a run that crashes or hangs counts as one.
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
