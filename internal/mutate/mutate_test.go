package main

import (
	"slices"
	"strings"
	"testing"
)

// The proof takes minutes, so nobody runs it with the tests. What it edits has to be there all the same, and what it proves
// has to be rules of the suite: else it ends at its first edit.
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
