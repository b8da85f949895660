package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// goTests runs go test on every package and counts from its own event stream. It prints a line a package, and the whole
// output of what failed.
func goTests() (tally, error) {
	// One package at a time: the tests that measure time in a browser must not share the machine with others.
	c := exec.Command("go", "test", "-json", "-p", "1", "-timeout", "25m", "./...")
	c.Stderr = os.Stderr
	stream, err := c.StdoutPipe()
	if err != nil {
		return tally{}, err
	}
	if err := c.Start(); err != nil {
		return tally{}, err
	}
	counted, err := countGoEvents(json.NewDecoder(stream))
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

func countGoEvents(events *json.Decoder) (tally, error) {
	var t tally
	printed := map[string][]string{} // what a test, a package or a build printed so far
	for events.More() {
		var e goEvent
		if err := events.Decode(&e); err != nil {
			return t, fmt.Errorf("go test -json: %w", err)
		}
		key := e.Package + e.ImportPath + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			printed[key] = append(printed[key], e.Output)
		case "fail", "build-fail":
			for _, line := range printed[key] {
				fmt.Print(line)
			}
			// A package that does not build or dies outside its tests has no failed test to be counted.
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
