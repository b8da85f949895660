package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/fiberfill/fiberfill/internal/engines"
)

// unwoundTests runs tests of jsglue in Node or Bun with fibers on stacks of fiberfill's own.
func unwoundTests(e engines.Engine) (tally, error) {
	if err := install("npm"); err != nil {
		return tally{}, err
	}
	// The run in Node with JSPI plays all of them, and only beside raw JSPI is every call of a wiring checked.
	os.Setenv("FIBERFILL_ROUNDS", "10000")
	defer os.Unsetenv("FIBERFILL_ROUNDS")
	if e != engines.Hidden {
		os.Setenv("FIBERFILL_WIRINGS", "50")
		defer os.Unsetenv("FIBERFILL_WIRINGS")
	}
	node := "node_modules/.bin/node"
	flags := []string{"--test-timeout=600000"}
	for _, pattern := range e.LeftOutPatterns() {
		flags = append(flags, "--test-skip-pattern=/"+strings.ReplaceAll(pattern, "/", `\/`)+"/")
	}
	switch e {
	case engines.Bun12:
		return bunTests(e.Files(), e.LeftOutPatterns())
	case engines.Node22:
		node = "node_modules/node22/bin/node"
	case engines.Node24:
		node = "node_modules/node24/bin/node"
	case engines.Hidden:
		flags = append(flags, "--import", "./jsglue/test/without_jspi.mjs")
	}
	return runNode(node, func(nodeEvent) {}, e.Files(), flags...)
}

// bunTests runs the files in Bun 1.2, each in a process of its own, as many at once as there are cores. The report of a
// file is printed when its tests have ended.
func bunTests(files, without []string) (total tally, err error) {
	var mutex sync.Mutex // of total and the output
	err = each(files, runtime.NumCPU(), func(file string) error {
		c := exec.Command("node_modules/bun12/bin/bun.exe", "test", "--preload", "./jsglue/test/bun_runner.mjs",
			"--timeout", "600000", "-t", "^(?!.*(?:"+strings.Join(without, "|")+"))", "./"+file)
		report, err := c.CombinedOutput()
		t, counted := countBunSummary(string(report))
		mutex.Lock()
		defer mutex.Unlock()
		os.Stdout.Write(report)
		total.passed += t.passed
		total.failed += t.failed
		if err = errors.Join(err, counted); err != nil {
			total.said += passedLine.ReplaceAllString(string(report), "")
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	})
	return total, err
}

var passedLine = regexp.MustCompile(`(?m)^\(pass\) .*\n`)

var bunSummary = regexp.MustCompile(`(?m)^\s*(\d+) (pass|fail|error)s?$`)

func countBunSummary(report string) (t tally, err error) {
	found := bunSummary.FindAllStringSubmatch(report, -1)
	if len(found) == 0 {
		return t, errors.New("bun test ended without a summary")
	}
	for _, m := range found {
		n, _ := strconv.Atoi(m[1])
		if m[2] == "pass" {
			t.passed += n
		} else {
			t.failed += n
		}
	}
	return t, nil
}
