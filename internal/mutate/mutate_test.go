package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The proof takes long, so nobody runs it with the tests. This test checks that the code which it edits exists, and
// that the rules which it proves are in the suite: otherwise it would end at its first edit.
func TestMutations(t *testing.T) {
	t.Chdir("../..")
	known, err := rules()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutations {
		if _, err := m.edit(); err != nil {
			t.Errorf("%s: %v", m.rules, err)
		}
		for _, rule := range strings.Fields(m.rules) {
			if !slices.Contains(known, rule) {
				t.Errorf("%s is no rule of the suite", rule)
			}
		}
	}
}

// The generated edits: each has a name of its own and changes the file, and what is called equivalent is among them.
func TestMutants(t *testing.T) {
	t.Chdir("../..")
	for _, target := range targets {
		for _, file := range target.files {
			path := filepath.Join(target.pkg, file)
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all, err := mutants(path, source)
			if err != nil || len(all) < 5 {
				t.Errorf("%s has %d mutants: %v", path, len(all), err)
			}
			list := equivalentIn(path)
			names := map[string]bool{}
			for _, m := range all {
				if names[m.name] || bytes.Equal(m.edited, source) {
					t.Errorf("%s: %s is there twice, or changes nothing", path, m.name)
				}
				names[m.name] = true
				delete(list, m.name)
			}
			for name := range list {
				t.Errorf("%s: %s is called equivalent, and is no mutant", path, name)
			}
			t.Logf("%s: %d mutants", path, len(all))
		}
	}
}
