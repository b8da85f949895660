package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// table is one table of the report: a row for each contestant, a column for each name.
type table struct {
	title, about string
	names        []string
	rows         []string
	per          float64 // divides the figures
	file         string  // of the plot beside it; "" for none
	plot         func(r *Results, t table) string
	hosts        []string          // nil: the engines
	ours         string            // the contestant that is ours; "": fiberfill
	heads        map[string]string // of the columns, by name; nil: the number in it
}

func (t table) on() []string {
	if t.hosts == nil {
		return engines
	}
	return t.hosts
}

func (t table) own() string {
	if t.ours == "" {
		return "fiberfill"
	}
	return t.ours
}

func (t table) head(name string) string {
	if t.heads == nil {
		return column(name)
	}
	return t.heads[name]
}

var engines = []string{"chromium", "node", "firefox"}

var labels = map[string]string{
	"chromium": "Chromium", "firefox": "Firefox", "node": "Node", "native": "Native",
	"fiberfill": "fiberfill", "raw": "raw JSPI", "ring": "raw JSPI, fair ring", "asyncify": "Asyncify",
	"await": "async/await", "channels": "Go channels", "unwound": "own stacks", "go": "Go", "wazero": "wazero",
	"plain": "own stacks, plain calls",
	running: "Node", sizes: "", "untouched": "as it is", "rewritten": "rewritten by fiberfill",
	"asyncifiable": "Asyncify",
	"flagged":      "Node", "lowered": "rewritten by fiberfill", "wasmfx": "by flag", "asyncified": "Asyncify",
}

var tables = []table{
	{title: "Switching",
		about: "ns a yield, among so many fibers. Raw JSPI and await have no queue of their own: the engine's " +
			"microtasks are fair.",
		names: sized("switch", widths), rows: contestants, per: 1, file: "switch.svg", plot: plotSwitch},
	{title: "Starting, warm", about: "µs a call that waits once, with so many calls at once.",
		names: sized("start", waves), rows: callers, per: 1000, file: "start.svg", plot: plotStart},
	{title: "Starting, cold", about: "The same for the first wave in a fresh process.",
		names: cold(sized("start", waves)), rows: callers, per: 1000},
	{title: "Fetching", about: "ms for all, at most 1,000 in progress.", names: sized("fetch", fetches),
		rows: []string{"fiberfill", "raw", "await"}, per: 1},
	{title: "Computing", about: "ms for a call that takes 10 ms without fiberfill.", names: []string{"compute"},
		rows: callers, per: 1},
	{title: "The first fiber", about: "ms from nothing to the first call's result.", names: []string{"first"},
		rows: callers, per: 1},
	continuations,
	interpreting,
}

func sized(name string, sizes []int) (names []string) {
	for _, n := range sizes {
		names = append(names, fmt.Sprintf("%s-%d", name, n))
	}
	return names
}

func cold(names []string) (result []string) {
	for _, name := range names {
		result = append(result, name+"-cold")
	}
	return result
}

// Report writes the tables, the plots and their figures into dir. bytes is the size that each contestant loads, in
// brotli.
func Report(dir string, r *Results, machine Environment, bytes map[string]int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := map[string]string{
		"README.md": page(r, machine, bytes),
		"reach.svg": plotReach(r),
		"costs.svg": plotCosts(r),
	}
	for _, t := range tables {
		if t.plot != nil {
			files[t.file] = t.plot(r, t)
		}
	}
	figures, err := json.MarshalIndent(r.figures(), "", "\t")
	if err != nil {
		return err
	}
	files["figures.json"] = string(figures) + "\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// figures returns the medians of all rounds, by host, name and contestant.
func (r *Results) figures() map[string]map[string]map[string][]float64 {
	tree := map[string]map[string]map[string][]float64{}
	for k := range r.rounds {
		if tree[k.host] == nil {
			tree[k.host] = map[string]map[string][]float64{}
		}
		if tree[k.host][k.name] == nil {
			tree[k.host][k.name] = map[string][]float64{}
		}
		medians := r.medians(k)
		for i, v := range medians {
			medians[i] = math.Round(v*1000) / 1000
		}
		tree[k.host][k.name][k.contestant] = medians
	}
	return tree
}

func page(r *Results, machine Environment, bytes map[string]int) string {
	var b strings.Builder
	b.WriteString("# Benchmark\n\nWritten by `make bench`; what each contestant does, and how it is measured, stands " +
		"in [bench/doc.go](../../bench/doc.go).\n" +
		"The medians of all rounds are in [figures.json](figures.json). Lower is better, except where the table says " +
		"otherwise.\n\n| | |\n|---|---|\n")
	for _, line := range machine {
		fmt.Fprintf(&b, "| %s | %s |\n", line[0], line[1])
	}
	b.WriteString("\n## Ratios\n\nWhat the project promises of itself: of Go fibers natively, of the stack-switching " +
		"instructions in Node, of all else in Chromium.\n\n| ratio | is | of | over |\n|---|--:|---|---|\n")
	for _, q := range ratios {
		if value, ok := r.Ratio(q.host, q.of, q.to); ok {
			fmt.Fprintf(&b, "| `%s` | %.2f | %s %s | %s %s "+
				"|\n", q.name, value, labels[q.of[1]], q.of[0], labels[q.to[1]], q.to[0])
		}
	}
	b.WriteString("\n" + losses(r))
	for _, t := range tables {
		b.WriteString(t.markdown(r))
	}
	b.WriteString(reach(r))
	b.WriteString("## Costs\n\n" + costsAbout + "![Costs](costs.svg)\n\n" + r.Costs() + "\n" + r.Alive() + "\n")
	b.WriteString("## Bytes\n\nWhat has to be loaded before the first call, library and guest together, in " +
		"brotli.\n\n| | bytes |\n|---|--:|\n")
	for _, c := range callers {
		fmt.Fprintf(&b, "| %s | %s |\n", labels[c], thousands(bytes[c]))
	}
	return b.String()
}

// markdown has a row for each engine and contestant.
func (t table) markdown(r *Results) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n", t.title, t.about)
	if t.plot != nil {
		fmt.Fprintf(&b, "![%s](%s)\n\n", t.title, t.file)
	}
	b.WriteString("| |")
	for _, name := range t.names {
		b.WriteString(" " + t.head(name) + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(t.names)) + "\n")
	for _, host := range t.on() {
		for _, c := range t.rows {
			fmt.Fprintf(&b, "| %s, %s |", labels[host], labels[c])
			for _, name := range t.names {
				cell := r.notes[key{host, name, c}]
				if v, ok := r.Value(host, name, c); ok {
					cell = short(v / t.per)
				}
				b.WriteString(" " + cell + " |")
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
	return b.String()
}

// column returns the heading for a name: the number in it, or "ms".
func column(name string) string {
	for _, part := range strings.Split(name, "-") {
		var n int
		if _, err := fmt.Sscan(part, &n); err == nil {
			return thousands(n)
		}
	}
	return "ms"
}

func reach(r *Results) string {
	var b strings.Builder
	b.WriteString("## How far it goes\n\nAlive: calls that wait at the same time. Ended: calls in waves of 1,000 " +
		"that all end. More is better; " +
		"a † stands where the process died, a ‡ where it no longer got on, and all other figures are where the " +
		"benchmark stopped, for time or at a million. " +
		"fiberfill starts a bounded number of the calls and lets the others wait unstarted.\n\n" +
		"![How far it goes](reach.svg)\n\n| | alive | ended |\n|---|--:|--:|\n")
	for _, host := range engines {
		for _, c := range callers {
			fmt.Fprintf(&b, "| %s, %s | %s | %s "+
				"|\n", labels[host], labels[c], r.end(host, "alive", c), r.end(host, "calls", c))
		}
	}
	b.WriteString("\n")
	return b.String()
}

func (r *Results) end(host, name, contestant string) string {
	end, ok := r.ends[key{host, name, contestant}]
	if !ok {
		return ""
	}
	return thousands(end.Count) + string(end.How)
}

// losses lists where another contestant is better, by more than two runs differ anyway.
func losses(r *Results) string {
	const noise = 1.05
	var b strings.Builder
	b.WriteString("## Where we lose\n\n")
	found := false
	for _, t := range tables {
		for _, host := range t.on() {
			var parts []string
			for _, name := range t.names {
				ours, ok := r.Value(host, name, t.own())
				if !ok {
					continue
				}
				var better []string
				for _, c := range t.rows {
					if theirs, ok := r.Value(host, name, c); ok && ours > theirs*noise {
						better = append(better, fmt.Sprintf("%s %s times", labels[c], short(ours/theirs)))
					}
				}
				if len(better) > 0 {
					size := ""
					if c := t.head(name); c != "ms" {
						size = "at " + c + ": "
					}
					parts = append(parts, size+strings.Join(better, ", "))
				}
			}
			if len(parts) > 0 {
				found = true
				fmt.Fprintf(&b, "- **%s, %s**, faster than fiberfill are: "+
					"%s.\n", t.title, labels[host], strings.Join(parts, "; "))
			}
		}
	}
	for _, host := range engines {
		for _, name := range []string{"alive", "calls"} {
			ours, ok := r.ends[key{host, name, "fiberfill"}]
			if ok && ours.How != stopped {
				found = true
				fmt.Fprintf(&b, "- **How far it goes, %s**: fiberfill ends at %s (%s).\n", labels[host],
					r.end(host, name, "fiberfill"), name)
			}
		}
	}
	if !found {
		b.WriteString("Nowhere in this run.\n")
	}
	b.WriteString("\n")
	return b.String()
}

// short writes a figure with at least three digits.
func short(v float64) string {
	switch {
	case v >= 100:
		return thousands(int(math.Round(v)))
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// thousands writes a number with a comma between thousands.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
