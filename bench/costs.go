package bench

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// operations are the rows of the table of costs. The names are the ones in bench/costs, and the files and exports of
// the guests in js/costs. The exception is switch-1, a workload of its own.
var operations = []struct{ name, title string }{
	{"fibers1.new", "A: new, release"},
	{"fibers1.spawn", "A: spawn, return"},
	{"fibers1.resume", "A: resume, suspend; from the entry"},
	{"fibers1.resume_inside", "A: resume, suspend; from a fiber"},
	{"fibers1.switch", "A: switch, there and back"},
	{"fibers1.retire", "A: spawn, retire"},
	{"fibers1.exception", "A: spawn, exception to the parent"},
	{"fibers2.mount", "B: mount, dismount"},
	{"stacks.switch", "C: switch, there and back"},
	{"stacks.bind", "C: bind, switch, there and back"},
	{"cont.resume", "D: resume, suspend"},
	{"cont.forward", "D: resume, suspend, forward"},
	{"pull", "a step of iter.Pull"},
	{rawTrip, "a round trip of raw JSPI"},
}

const rawTrip = "switch-1"

// compared are measured in one process with fibers1.resume, because there are ratios between them.
var compared = []string{"fibers1.resume_inside", "pull"}

// A substrate is a column.
type substrate struct{ title, host, contestant string }

var substrates = []substrate{
	{"Go", "native", "go"},
	{"Go in wasm (Node)", "node", "go"},
	{"JSPI (Chromium)", "chromium", "fiberfill"},
	{"JSPI (Node)", "node", "fiberfill"},
	{"JSPI (Firefox)", "firefox", "fiberfill"},
	{"own stacks (Chromium)", "chromium", "unwound"},
	{"own stacks (Node)", "node", "unwound"},
	{"plain call (Node)", "node", "plain"},
	{"wazero", "native", "wazero"},
}

// has reports whether the operation is measured on the substrate for the table.
func (s substrate) has(operation string) bool {
	return operation != rawTrip && (operation != "pull" || s.contestant == "go")
}

const costsAbout = "ns an operation. A to D are the systems of [fiberfill.h](../../include/fiberfill.h): fibers v1, " +
	"fibers v2, " +
	"single-use stack references, and cont. JSPI, stacks of fiberfill's own and wazero run the same C programs " +
	"(bench/js/costs), Go the same in " +
	"Go (bench/costs). " +
	"A spawned fiber begins, and so needs a stack; a new fiber that is released has not begun.\n\n"

// Costs returns the table of costs, in Markdown that is readable as text.
func (r *Results) Costs() string {
	rows := [][]string{{"ns"}}
	for _, s := range substrates {
		rows[0] = append(rows[0], s.title)
	}
	for _, o := range operations {
		row := []string{o.title}
		for _, s := range substrates {
			contestant := s.contestant
			if o.name == rawTrip && contestant == "fiberfill" {
				contestant = "raw"
			}
			cell := r.notes[key{s.host, o.name, contestant}]
			if v, ok := r.Value(s.host, o.name, contestant); ok {
				cell = short(v)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return aligned(rows)
}

// aligned writes a table whose first row is the header. Figures are aligned to the right.
func aligned(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	rule := []string{strings.Repeat("-", widths[0])}
	for _, width := range widths[1:] {
		rule = append(rule, strings.Repeat("-", width-1)+":")
	}
	var b strings.Builder
	for _, row := range slices.Insert(rows, 1, rule) {
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString("| " + cell + space)
			} else {
				b.WriteString(" | " + space + cell)
			}
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// Alive returns a sentence with the number of Go fibers that were alive natively, and their memory; "" if that was not
// measured.
func (r *Results) Alive() string {
	end, ok := r.ends[key{"native", "alive", "go"}]
	if !ok {
		return ""
	}
	bytes, _ := r.Value("native", "alive-bytes", "go")
	gb, _ := r.Value("native", "alive-gb", "go")
	return fmt.Sprintf("%s%s Go fibers alive natively, suspended in the middle of their function: %s bytes a fiber, "+
		"%.2f GB in all.\n",
		thousands(end.Count), end.How, short(bytes), gb)
}

func plotCosts(r *Results) string {
	panels := map[string][]bar{}
	for _, s := range substrates {
		if v, ok := r.Value(s.host, "fibers1.resume", s.contestant); ok {
			panels[s.host] = append(panels[s.host], bar{s.contestant, "", v})
		}
	}
	return bars("ns a resume and a suspend of fibers v1 (logarithmic)", panels)
}
