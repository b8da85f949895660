package bench

import (
	"fmt"
	"slices"
)

// key names a figure.
type key struct{ host, name, contestant string }

// Results holds the measurements so far, by rounds.
type Results struct {
	rounds map[key]map[int][]float64 // the samples, by round; numbers are unique over all groups
	ends   map[key]End
	notes  map[key]string  // why there is no figure
	hosts  map[string]bool // the hosts that ran
}

// End is how far a workload went that runs until the process dies, and how it ended.
type End struct {
	Count int
	How   ending
}

// An ending is the mark behind the count.
type ending string

const (
	stopped ending = ""   // by the benchmark: it reached a limit
	died    ending = " †" // the process died
	hung    ending = " ‡" // the process made no progress
)

func newResults() *Results {
	return &Results{map[key]map[int][]float64{}, map[key]End{}, map[key]string{}, map[string]bool{}}
}

func (r *Results) add(host string, round int, measured Measured) {
	r.hosts[host] = true
	for contestant, names := range measured {
		for name, samples := range names {
			k := key{host, name, contestant}
			if r.rounds[k] == nil {
				r.rounds[k] = map[int][]float64{}
			}
			r.rounds[k][round] = samples
		}
	}
}

// Value returns the median of a contestant's rounds.
func (r *Results) Value(host, name, contestant string) (value float64, ok bool) {
	medians := r.medians(key{host, name, contestant})
	return median(medians), len(medians) > 0
}

// medians returns the medians of the rounds, the smallest first.
func (r *Results) medians(k key) (medians []float64) {
	for _, samples := range r.rounds[k] {
		medians = append(medians, median(samples))
	}
	slices.Sort(medians)
	return medians
}

// Ratio returns the median of a over b within rounds. If the two have taken turns, and so have the same number of
// samples, the ratio within a round is the median over neighbouring samples; otherwise it is the ratio of the medians.
func (r *Results) Ratio(host string, a, b [2]string) (ratio float64, ok bool) {
	of, to := r.rounds[key{host, a[0], a[1]}], r.rounds[key{host, b[0], b[1]}]
	var ratios []float64
	for round, samples := range of {
		others, ok := to[round]
		if !ok {
			continue
		}
		if len(samples) != len(others) {
			samples, others = []float64{median(samples)}, []float64{median(others)}
		}
		var beside []float64
		for i, v := range samples {
			beside = append(beside, v/others[i])
		}
		ratios = append(ratios, median(beside))
	}
	return median(ratios), len(ratios) > 0
}

// median returns the middle of values, or the mean of the two in the middle; 0 without values.
func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// ratios are what the project promises about itself.
var ratios = []struct {
	name, host string
	of, to     [2]string // name and contestant
}{
	{"switch-10", "chromium", [2]string{"switch-10", "fiberfill"}, [2]string{"switch-1", "raw"}},
	{"switch-100", "chromium", [2]string{"switch-100", "fiberfill"}, [2]string{"switch-1", "raw"}},
	{"ring-10", "chromium", [2]string{"switch-10", "fiberfill"}, [2]string{"switch-10", "ring"}},
	{"ring-100", "chromium", [2]string{"switch-100", "fiberfill"}, [2]string{"switch-100", "ring"}},
	{"start-1000", "chromium", [2]string{"start-1000", "raw"}, [2]string{"start-1000", "fiberfill"}},
	{"start-10000", "chromium", [2]string{"start-10000", "raw"}, [2]string{"start-10000", "fiberfill"}},
	{"fetch-1000", "chromium", [2]string{"fetch-1000", "fiberfill"}, [2]string{"fetch-1000", "await"}},
	{"fetch-10000", "chromium", [2]string{"fetch-10000", "fiberfill"}, [2]string{"fetch-10000", "await"}},
	{"compute", "chromium", [2]string{"compute", "fiberfill"}, [2]string{"compute", "raw"}},
	{"unwound-switch-10", "chromium", [2]string{"switch-10", "unwound"}, [2]string{"switch-1", "raw"}},
	{"unwound-start-1000", "chromium", [2]string{"start-1000", "unwound"}, [2]string{"start-1000", "asyncify"}},
	{"unwound-size-lua", sizes, [2]string{"lua", "rewritten"}, [2]string{"lua", "asyncifiable"}},
	{"unwound-size-quickjs", sizes, [2]string{"quickjs", "rewritten"}, [2]string{"quickjs", "asyncifiable"}},
	{"unwound-size-sqlite", sizes, [2]string{"sqlite", "rewritten"}, [2]string{"sqlite", "asyncifiable"}},
	{"unwound-brotli-lua", sizes, [2]string{"lua-brotli", "rewritten"}, [2]string{"lua-brotli", "asyncifiable"}},
	{"unwound-brotli-quickjs", sizes, [2]string{"quickjs-brotli", "rewritten"},
		[2]string{"quickjs-brotli", "asyncifiable"}},
	{"unwound-brotli-sqlite", sizes, [2]string{"sqlite-brotli", "rewritten"},
		[2]string{"sqlite-brotli", "asyncifiable"}},
	{"unwound-run-lua", running, [2]string{"lua", "rewritten"}, [2]string{"lua", "untouched"}},
	{"unwound-run-quickjs", running, [2]string{"quickjs", "rewritten"}, [2]string{"quickjs", "untouched"}},
	{"unwound-run-sqlite", running, [2]string{"sqlite", "rewritten"}, [2]string{"sqlite", "untouched"}},
	{"asyncify-run-lua", running, [2]string{"lua", "asyncifiable"}, [2]string{"lua", "untouched"}},
	{"asyncify-run-quickjs", running, [2]string{"quickjs", "asyncifiable"}, [2]string{"quickjs", "untouched"}},
	{"asyncify-run-sqlite", running, [2]string{"sqlite", "asyncifiable"}, [2]string{"sqlite", "untouched"}},
	{"cont-native-0", flagged, [2]string{"cont-0", "wasmfx"}, [2]string{"cont-0", "lowered"}},
	{"cont-native-10", flagged, [2]string{"cont-10", "wasmfx"}, [2]string{"cont-10", "lowered"}},
	{"cont-native-50", flagged, [2]string{"cont-50", "wasmfx"}, [2]string{"cont-50", "lowered"}},
	{"cont-asyncify-0", flagged, [2]string{"cont-0", "lowered"}, [2]string{"cont-0", "asyncified"}},
	{"cont-asyncify-10", flagged, [2]string{"cont-10", "lowered"}, [2]string{"cont-10", "asyncified"}},
	{"cont-asyncify-50", flagged, [2]string{"cont-50", "lowered"}, [2]string{"cont-50", "asyncified"}},
	{"go-resume", "native", [2]string{"fibers1.resume", "go"}, [2]string{"pull", "go"}},
	{"go-resume-inside", "native", [2]string{"fibers1.resume_inside", "go"}, [2]string{"pull", "go"}},
}

// Ratios returns the project's ratios, a line each, "ratio NAME VALUE", and the names of the ratios that the hosts
// failed to measure.
func (r *Results) Ratios() (lines, missing []string) {
	for _, q := range ratios {
		if !r.hosts[q.host] {
			continue
		}
		if value, ok := r.Ratio(q.host, q.of, q.to); ok {
			lines = append(lines, fmt.Sprintf("ratio %s %.3f", q.name, value))
		} else {
			missing = append(missing, q.name)
		}
	}
	return lines, missing
}
