package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/fiberfill/fiberfill/internal/engines"
)

// tally counts tests as their runners reported them. A test with subtests counts in addition to its subtests.
type tally struct {
	passed, failed, skipped int
	said                    string // by the runner, of the tests that failed
}

func (t tally) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", t.passed, t.failed, t.skipped)
}

func testCommand(*flag.FlagSet) func() error {
	return func() error {
		if err := install("npm", "bundlers", "clang", "rust", "zig", "browsers"); err != nil {
			return err
		}
		table, err := newRuleTable()
		if err != nil {
			return err
		}
		// The build comes first, since the tests use the built files, as a page does.
		runners := []runner{
			{"build", func() (tally, error) { return checked(demo, docs) }},
			{"checks", func() (tally, error) { return checked(formatted, narrow, vetted, typed) }},
			{"go test", func() (tally, error) { return goTests(table.native) }},
			{"in wasm", func() (tally, error) { return wasmTests(table.wasm) }},
			{"node --test", func() (tally, error) { return nodeTests(table.node, "") }},
			{"rules", func() (tally, error) { return checked(table.print) }},
		}
		if err := engines.Stale("."); err != nil {
			return err
		}
		for _, e := range []engines.Engine{engines.Hidden, engines.Node22, engines.Node24, engines.Bun12} {
			runners = append(runners, runner{string(e), func() (tally, error) { return unwoundTests(e) }})
		}
		return runTests(runners)
	}
}

// runner runs one kind of tests and counts them. Failed tests may show in the count, in the error, or in both.
type runner struct {
	name string
	run  func() (tally, error)
}

// runTests runs all runners, even if one fails, and ends with one summary line. What was said of failed tests is
// repeated before it: the end of a log is what people see first. If a test failed, it exits the process.
func runTests(runners []runner) error {
	var total tally
	var failures []error
	var lines string
	for _, r := range runners {
		start := time.Now()
		t, err := r.run()
		if err == nil && t.failed > 0 {
			err = errors.New("tests failed")
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s%s: %w", t.said, r.name, err))
			t.failed = max(t.failed, 1)
		}
		lines += fmt.Sprintf("%-12s %s, in %.0f s\n", r.name, t, time.Since(start).Seconds())
		total.passed += t.passed
		total.failed += t.failed
		total.skipped += t.skipped
	}
	for _, failure := range failures {
		fmt.Println(failure)
	}
	fmt.Printf("\n%s%s\n", lines, total)
	if len(failures) > 0 {
		os.Exit(1) // print nothing more: the summary is the last line
	}
	return nil
}

// checked runs checks that no test runner counts, and counts each as one test.
func checked(checks ...func() error) (tally, error) {
	var t tally
	var failures []error
	for _, check := range checks {
		if err := check(); err != nil {
			t.failed++
			failures = append(failures, err)
		} else {
			t.passed++
		}
	}
	return t, errors.Join(failures...)
}
