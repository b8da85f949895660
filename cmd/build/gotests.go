package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// goTests runs go test on every package and counts the tests in its event stream. It prints one line for each package,
// and the whole output of failed tests. It calls seen with every test that ended.
func goTests(seen func(goEvent)) (tally, error) {
	// One package at a time: the tests that measure time in a browser must not share the machine with others.
	return goTest(seen, nil, "-p", "1", "-timeout", "40m", "./...")
}

// wasmTests is like goTests, but compiles the packages of the column go to wasm and runs them in Node. Other packages
// start programs and browsers, which a program in wasm cannot.
func wasmTests(seen func(goEvent), flags ...string) (tally, error) {
	node, err := npmTool("node")
	if err != nil {
		return tally{}, err
	}
	goroot, err := output("go", "env", "GOROOT")
	if err != nil {
		return tally{}, err
	}
	// As in lib/wasm/go_js_wasm_exec, but with the project's Node.
	wrapper := fmt.Sprintf("'%s' --stack-size=8192 "+
		"'%s'", node, filepath.Join(goroot, "lib", "wasm", "wasm_exec_node.js"))
	return goTest(seen, []string{"GOOS=js", "GOARCH=wasm"},
		slices.Concat([]string{"-exec", wrapper}, flags, packagesOf("go"))...)
}

func goTest(seen func(goEvent), env []string, args ...string) (tally, error) {
	c := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	c.Env = append(os.Environ(), env...)
	c.Stderr = os.Stderr
	stream, err := c.StdoutPipe()
	if err != nil {
		return tally{}, err
	}
	if err := c.Start(); err != nil {
		return tally{}, err
	}
	counted, err := countGoEvents(json.NewDecoder(stream), seen)
	return counted, errors.Join(err, c.Wait())
}

// goEvent is one line of go test -json (go doc test2json).
type goEvent struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

// ended reports whether the event is the end of a test, as opposed to a package or a build.
func (e goEvent) ended() bool {
	return e.Test != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip")
}

func countGoEvents(events *json.Decoder, seen func(goEvent)) (tally, error) {
	var t tally
	printed := map[string][]string{} // output of each test, package or build so far
	for events.More() {
		var e goEvent
		if err := events.Decode(&e); err != nil {
			return t, fmt.Errorf("go test -json: %w", err)
		}
		if e.ended() {
			seen(e)
		}
		key := e.Package + e.ImportPath + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			printed[key] = append(printed[key], e.Output)
		case "fail", "build-fail":
			said := strings.Join(printed[key], "")
			fmt.Print(said)
			t.said += said
			// A package that does not build, or dies outside its tests, has no failed test to count.
			if e.Test != "" || e.Action == "build-fail" {
				t.failed++
			}
			if e.Test == "" {
				fmt.Printf("FAIL %s%s\n", e.Package, e.ImportPath)
			}
			delete(printed, key)
		case "pass":
			if e.Test != "" {
				t.passed++
			} else {
				fmt.Printf("ok   %s %.1fs\n", e.Package, e.Elapsed)
			}
			delete(printed, key)
		case "skip":
			if e.Test != "" {
				t.skipped++
				for _, line := range printed[key] {
					fmt.Print(line)
				}
			}
			delete(printed, key)
		}
	}
	return t, nil
}
