package bench

// The three programs of js/interpreters.js.
var interpreters = []string{"lua", "quickjs", "sqlite"}

// The hosts of their sizes, which are the same everywhere, and of their times: Node, as a host of its own, since it may
// be that only the others are measured.
const (
	sizes   = "sizes"
	running = "interpreters"
)

var suspendables = []string{"untouched", "rewritten", "asyncifiable"}

var interpreting = table{
	title: "Programs that might wait",
	about: "µs for a script, in Node, while nothing waits. Three programs from npm, in which one import may wait.",
	names: interpreters, rows: suspendables, per: 1000, hosts: []string{running}, ours: "rewritten",
	heads: map[string]string{"lua": "Lua", "quickjs": "QuickJS", "sqlite": "SQLite"},
}

// A Size is that of a program as a contestant has it, in bytes.
type Size struct {
	Program, Contestant string
	Raw, Brotli         int
}

// interpret has a process for each contestant and program: what is optimised for one must not affect the next.
func interpret() (jobs []Job) {
	for _, program := range interpreters {
		for _, c := range suspendables {
			jobs = append(jobs, Job{Workload: "costs", Contestants: []string{c}, Operations: []string{program},
				Samples: 7, Warmup: 4, Millis: 40})
		}
	}
	return jobs
}

// addSizes records the sizes.
func (r *Results) addSizes(list []Size) {
	for _, s := range list {
		r.add(sizes, 0, Measured{s.Contestant: {
			s.Program: {float64(s.Raw)}, s.Program + "-brotli": {float64(s.Brotli)},
		}})
	}
}
