package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

// tally counts tests as their runners reported them. A test with subtests counts beside its subtests.
type tally struct{ passed, failed, skipped int }

func (t tally) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", t.passed, t.failed, t.skipped)
}

func testCommand(*flag.FlagSet) func() error {
	return func() error {
		if err := install("npm", "browsers"); err != nil {
			return err
		}
		table, err := newRuleTable()
		if err != nil {
			return err
		}
		// The build comes first, since the tests run over what is built, as a page gets it.
		return runTests([]runner{
			{"build", func() (tally, error) { return checked(demo) }},
			{"checks", func() (tally, error) { return checked(formatted, vetted, typed) }},
			{"go test", func() (tally, error) { return goTests(table.native) }},
			{"in wasm", func() (tally, error) { return wasmTests(table.wasm) }},
			{"node --test", func() (tally, error) { return nodeTests(table.node, "") }},
			{"rules", func() (tally, error) { return checked(table.print) }},
		})
	}
}

// runner runs one kind of tests and counts them. Its error is that of the run; failed tests may be told by either.
type runner struct {
	name string
	run  func() (tally, error)
}

// runTests runs all runners, whatever the others say, and closes with one line that sums them up. It does not return if
// a test failed.
func runTests(runners []runner) error {
	var total tally
	var failures []error
	var lines string
	for _, r := range runners {
		t, err := r.run()
		if err == nil && t.failed > 0 {
			err = errors.New("tests failed")
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", r.name, err))
			t.failed = max(t.failed, 1)
		}
		lines += fmt.Sprintf("%-12s %s\n", r.name, t)
		total.passed += t.passed
		total.failed += t.failed
		total.skipped += t.skipped
	}
	for _, failure := range failures {
		fmt.Println(failure)
	}
	fmt.Printf("\n%s%s\n", lines, total)
	if len(failures) > 0 {
		os.Exit(1) // without a word on standard error: the summary is the last line
	}
	return nil
}

// checked runs checks that are no tests by themselves and counts each as one.
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
