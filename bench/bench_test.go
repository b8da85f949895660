package bench

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 100, 2}, 3}} {
		if got := median(c.values); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

// A slow minute of the machine must not change a ratio. A round that lacks one of the two must not count.
func TestRatioIsTakenWithinRounds(t *testing.T) {
	r := newResults()
	for round, pace := range []float64{1, 10, 1} {
		r.add("chromium", round, Measured{"raw": {"start-1000": {6 * pace}}})
		r.add("chromium", round, Measured{"fiberfill": {"start-1000": {2 * pace, 2 * pace, 50}}})
	}
	r.add("chromium", 3, Measured{"raw": {"start-1000": {1000}}})
	asked := 0
	for _, q := range ratios {
		if q.host == "chromium" {
			asked++
		}
	}
	if lines, missing := r.Ratios(); len(lines) != 1 || lines[0] != "ratio start-1000 "+
		"3.000" || len(missing) != asked-1 {
		t.Errorf("ratios = %q, missing %q", lines, missing)
	}
	r.add("native", 0, Measured{"go": {"fibers1.resume": {130}, "pull": {100}}})
	if lines, missing := r.Ratios(); len(lines) != 2 || lines[1] != "ratio go-resume 1.300" || len(missing) != asked {
		t.Errorf("ratios = %q, missing %q", lines, missing)
	}
}

// A slow second must not change a ratio either, where the two have taken turns.
func TestRatioIsTakenBetweenSamplesThatAreBesideEachOther(t *testing.T) {
	r := newResults()
	r.add("chromium", 0, Measured{"fiberfill": {"switch-10": {15, 30, 30, 15}}})
	r.add("chromium", 0, Measured{"raw": {"switch-1": {10, 20, 20, 20}}})
	r.add("chromium", 1, Measured{"raw": {"switch-1": {1}}})
	if lines, _ := r.Ratios(); len(lines) != 1 || lines[0] != "ratio switch-10 1.500" {
		t.Errorf("ratios = %q", lines)
	}
}

// Every row is measured wherever possible, each operation once a round. Compared operations are measured in one
// process.
func TestCostsPlan(t *testing.T) {
	for _, s := range substrates {
		var measured []string
		for _, job := range costing(s.host) {
			if job.Contestants[0] == s.contestant {
				measured = append(measured, job.Operations...)
			}
		}
		want := len(operations) - 2 // neither iter.Pull nor raw JSPI
		if s.contestant == "go" {
			want++
		}
		slices.Sort(measured)
		if len(measured) != want || len(slices.Compact(measured)) != want {
			t.Errorf("%s measures %q, want %d operations", s.title, measured, want)
		}
	}
	if first := costing("native")[4]; !slices.Equal(first.Operations,
		[]string{"fibers1.resume", "fibers1.resume_inside", "pull"}) {
		t.Errorf("the compared operations are measured by %q", first.Operations)
	}
}

func TestCosts(t *testing.T) {
	r := newResults()
	r.add("native", 0, Measured{"go": {"fibers1.resume": {130}, "pull": {62.5}, "alive-bytes": {3120},
		"alive-gb": {3.17}}})
	r.add("firefox", 0, Measured{"raw": {rawTrip: {1623}}})
	r.notes[key{"chromium", "fibers1.retire", "fiberfill"}] = "dies"
	text := regexp.MustCompile(" +").ReplaceAllString(r.Costs(), " ")
	for _, want := range []string{
		"\n| A: resume, suspend; from the entry | 130 | | | | | | | | |\n",
		"\n| A: spawn, retire | | | dies | | | | | | |\n",
		"\n| a step of iter.Pull | 62.5 | | | | | | | | |\n",
		"\n| a round trip of raw JSPI | | | | | 1,623 | | | | |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
	if line := r.Alive(); line != "" {
		t.Errorf("without a figure the line is %q", line)
	}
	r.ends[key{"native", "alive", "go"}] = End{1_000_000, stopped}
	if line := r.Alive(); !strings.HasPrefix(line, "1,000,000 Go fibers") ||
		!strings.Contains(line, "3,120 bytes a fiber, 3.17 GB") {
		t.Errorf("the line of the million is %q", line)
	}
}

func TestReport(t *testing.T) {
	r := newResults()
	for _, host := range engines {
		for i, c := range contestants {
			for _, table := range tables {
				for j, name := range table.names {
					r.add(host, 0, Measured{c: {name: {float64(100 * (i + 1) * (j + 1))}}})
				}
			}
		}
	}
	r.add("native", 0, Measured{"go": {"fibers1.resume": {130}}, "wazero": {"fibers1.resume": {600}}})
	r.add("firefox", 0, Measured{"asyncify": {"switch-10": {1}}})
	r.ends[key{"chromium", "calls", "raw"}] = End{132000, died}
	r.ends[key{"chromium", "calls", "fiberfill"}] = End{1000000, stopped}
	delete(r.rounds, key{"firefox", "start-10000", "raw"})
	r.notes[key{"firefox", "start-10000", "raw"}] = "dies"

	dir := t.TempDir()
	if err := Report(dir, r, Environment{{"machine", "this"}}, map[string]int{"fiberfill": 20123}); err != nil {
		t.Fatal(err)
	}
	text := page(r, Environment{{"machine", "this"}}, map[string]int{"fiberfill": 20123})
	for _, want := range []string{
		"| machine | this |", "132,000 †", "1,000,000 |", "| fiberfill | 20,123 |", " dies |", "| `switch-10` | 1.00 |",
		"## Costs\n",
		"- **Switching, Firefox**, faster than fiberfill are: at 10: Asyncify 200 times.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for name, plot := range map[string]string{"switch": plotSwitch(r, tables[0]), "start": plotStart(r, tables[1]),
		"reach": plotReach(r), "costs": plotCosts(r)} {
		reader := xml.NewDecoder(strings.NewReader(plot))
		for {
			if _, err := reader.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s is not XML: %v", name, err)
			}
		}
		if strings.Contains(plot, "NaN") || strings.Contains(plot, "Inf") {
			t.Errorf("%s has a point that is no number", name)
		}
	}
}
