package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// nodeTests runs node --test with the project's Node, which has JSPI, on the test files whose paths begin with folder.
// It counts by the runner's own summary, and calls seen with every test that ended.
func nodeTests(seen func(nodeEvent), folder string, flags ...string) (tally, error) {
	files, err := sources("_test.mjs")
	if err != nil {
		return tally{}, err
	}
	files = slices.DeleteFunc(files, func(path string) bool { return !strings.HasPrefix(path, folder) })
	if len(files) == 0 {
		return tally{}, errors.New("no *_test.mjs found")
	}
	node, err := npmTool("node")
	if err != nil {
		return tally{}, err
	}
	return runNode(node, seen, files, flags...)
}

// runNode runs node --test on files.
func runNode(node string, seen func(nodeEvent), files []string, flags ...string) (tally, error) {
	dir, err := os.MkdirTemp("", "fiberfill-node-*")
	if err != nil {
		return tally{}, err
	}
	defer os.RemoveAll(dir)
	ends := filepath.Join(dir, "ends.json")
	// On two cores, Node would run one file at a time.
	c := exec.Command(node, slices.Concat([]string{"--test", fmt.Sprint("--test-concurrency=", runtime.NumCPU()),
		"--test-reporter=spec", "--test-reporter-destination=stdout",
		"--test-reporter=./cmd/build/reporter.mjs", "--test-reporter-destination=" + ends}, flags, files)...)
	c.Stderr = os.Stderr
	stream, err := c.StdoutPipe()
	if err != nil {
		return tally{}, err
	}
	if err := c.Start(); err != nil {
		return tally{}, err
	}
	counted, err := countNodeSummary(io.TeeReader(stream, os.Stdout))
	return counted, errors.Join(err, c.Wait(), readNodeEvents(ends, seen))
}

// nodeEvent is one line from reporter.mjs: a test that ended.
type nodeEvent struct {
	Name   string
	Passed bool
	Ran    bool // neither skipped nor todo
}

func readNodeEvents(path string, seen func(nodeEvent)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for lines := json.NewDecoder(file); lines.More(); {
		var e nodeEvent
		if err := lines.Decode(&e); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		seen(e)
	}
	return nil
}

// summaryLine is a line of the summary at the end of the reporter "spec", such as "ℹ pass 12".
var summaryLine = regexp.MustCompile(`^ℹ (tests|pass|fail|cancelled|skipped|todo) (\d+)$`)

func countNodeSummary(report io.Reader) (tally, error) {
	counts := map[string]int{}
	lines := bufio.NewScanner(report)
	lines.Buffer(nil, 1<<24)
	failing := false // the reporter repeats failed tests at its end
	var said strings.Builder
	for lines.Scan() {
		if failing = failing || lines.Text() == "✖ failing tests:"; failing {
			said.WriteString(lines.Text() + "\n")
		}
		if m := summaryLine.FindStringSubmatch(lines.Text()); m != nil {
			counts[m[1]], _ = strconv.Atoi(m[2])
		}
	}
	t := tally{counts["pass"], counts["fail"] + counts["cancelled"], counts["skipped"] + counts["todo"],
		said.String()}
	if err := lines.Err(); err != nil {
		return t, err
	}
	if sum := t.passed + t.failed + t.skipped; sum != counts["tests"] || sum == 0 {
		return t, fmt.Errorf("node --test ended without a summary of its tests (%d of %d counted)", sum,
			counts["tests"])
	}
	return t, nil
}
