package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

// tally counts tests as their runners reported them. A test with subtests counts beside its subtests.
type tally struct{ passed, failed, skipped int }

func (t *tally) add(u tally) {
	t.passed += u.passed
	t.failed += u.failed
	t.skipped += u.skipped
}

func (t tally) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", t.passed, t.failed, t.skipped)
}

func testCommand(flags *flag.FlagSet) func() error {
	pattern := flags.String("run", "", "only Go tests whose name matches, and no JavaScript tests")
	return func() error {
		if err := install("npm", "browsers"); err != nil {
			return err
		}
		if err := demo(); err != nil {
			return err
		}
		var total tally
		var failures []error
		note := func(runner string, t tally, err error) {
			fmt.Printf("%-12s %s\n", runner, t)
			total.add(t)
			if err != nil {
				failures = append(failures, fmt.Errorf("%s: %w", runner, err))
			}
		}
		var types tally
		err := typed()
		types.one(err == nil)
		note("TypeScript", types, err)

		t, err := goTests(*pattern)
		note("Go", t, err)
		if *pattern == "" {
			t, err = nodeTests()
			note("JavaScript", t, err)
		}
		err = errors.Join(failures...)
		if err == nil && total.failed > 0 {
			err = errors.New("a test failed though its runner did not say so")
		}
		if err != nil {
			fmt.Println(err)
		}
		fmt.Println(total)
		if err != nil {
			os.Exit(1)
		}
		return nil
	}
}

func (t *tally) one(ok bool) {
	if ok {
		t.passed++
	} else {
		t.failed++
	}
}
