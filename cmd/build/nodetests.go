package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
)

// nodeTests runs node --test with the project's Node, which has JSPI, and counts by the runner's own summary.
func nodeTests() (tally, error) {
	files, err := sources("_test.mjs")
	if err != nil {
		return tally{}, err
	}
	if len(files) == 0 {
		return tally{}, errors.New("no *_test.mjs found")
	}
	node, err := npmTool("node")
	if err != nil {
		return tally{}, err
	}
	c := exec.Command(node, append([]string{"--test", "--test-reporter=spec"}, files...)...)
	c.Stderr = os.Stderr
	stream, err := c.StdoutPipe()
	if err != nil {
		return tally{}, err
	}
	if err := c.Start(); err != nil {
		return tally{}, err
	}
	counted, err := countNodeSummary(io.TeeReader(stream, os.Stdout))
	return counted, errors.Join(err, c.Wait())
}

// summaryLine is a line of the summary that the reporter "spec" closes with, such as "ℹ pass 12".
var summaryLine = regexp.MustCompile(`^ℹ (tests|pass|fail|cancelled|skipped|todo) (\d+)$`)

func countNodeSummary(report io.Reader) (tally, error) {
	counts := map[string]int{}
	lines := bufio.NewScanner(report)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if m := summaryLine.FindStringSubmatch(lines.Text()); m != nil {
			counts[m[1]], _ = strconv.Atoi(m[2])
		}
	}
	t := tally{counts["pass"], counts["fail"] + counts["cancelled"], counts["skipped"] + counts["todo"]}
	if err := lines.Err(); err != nil {
		return t, err
	}
	if sum := t.passed + t.failed + t.skipped; sum != counts["tests"] || sum == 0 {
		return t, fmt.Errorf("node --test closed with no summary of its tests (%d of %d counted)", sum, counts["tests"])
	}
	return t, nil
}
