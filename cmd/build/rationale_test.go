package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The code cites questions of RATIONALE.md. Every question that it cites must exist.
func TestRationaleIsCited(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile("RATIONALE.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := sources("")
	if err != nil {
		t.Fatal(err)
	}
	cited := map[string]bool{}
	for _, file := range files {
		if !slices.Contains([]string{".go", ".ts", ".wat"}, filepath.Ext(file)) {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`RATIONALE\.md, "([^"]*)"`).FindAllStringSubmatch(string(source), -1) {
			cited[m[1]] = true
			if !strings.Contains(string(text), "\n## "+m[1]+"\n") {
				t.Errorf("%s cites %q, which RATIONALE.md does not ask", file, m[1])
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(string(text), -1) {
		if !cited[m[1]] {
			t.Errorf("no code cites %q", m[1])
		}
	}
}
