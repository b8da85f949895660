package bench

import "slices"

// contestants, in the order of the tables. The names are the files of js/contestants.
var contestants = []string{"fiberfill", "raw", "ring", "asyncify", "await", "channels", "unwound"}

var (
	callers = []string{"fiberfill", "raw", "asyncify", "await", "channels", "unwound"} // a ring starts as raw does
	widths  = []int{1, 10, 100}
	waves   = []int{1, 10, 100, 1000, 10000}
	fetches = []int{1000, 10000}
)

const inFlight = 1000

// quickPlan has what the ratios need, in as many rounds as there is time for. The fetches come last: after them the
// browser is busy for seconds.
func quickPlan() []Group {
	const steps = 50_000
	return []Group{
		{"switch-10", 7, switching(10, steps, "fiberfill", "ring", "unwound")},
		{"switch-100", 7, switching(100, steps, "fiberfill", "ring")},
		{"start-1000", 7, starting(1000, "fiberfill", "raw", "unwound", "asyncify")},
		{"start-10000", 5, starting(10000, "fiberfill", "raw")},
		{"compute", 3, []Job{computing("fiberfill", "raw")}},
		{"fetch", 1, []Job{fetching("fiberfill", "await")}},
	}
}

// fullPlan has everything for an engine.
func fullPlan(host string) []Group {
	rounds, steps, seconds := 3, 50_000, 60
	if host == "firefox" { // there a switch takes microseconds, and every job starts a browser
		rounds, steps, seconds = 2, 10_000, 20
	}
	var plan []Group
	for _, n := range widths {
		plan = append(plan, Group{"switch", rounds, switching(n, steps, contestants...)})
	}
	plan = append(plan, []Group{
		{"fetch", rounds - 1, []Job{fetching("fiberfill", "raw", "await")}},
		{"compute", rounds, []Job{computing(callers...)}},
		{"first", rounds, each(callers, func(c string) Job {
			return Job{Workload: "first", Contestants: []string{c}}
		})},
		{"costs", rounds, costing(host)},
	}...)
	for _, n := range waves {
		plan = append(plan, Group{"start", rounds - 1, starting(n, callers...)})
	}
	for _, workload := range []string{"alive", "calls"} {
		plan = append(plan, Group{workload, 1, each(callers, func(c string) Job {
			return Job{Workload: workload, Contestants: []string{c}, Limit: 1_000_000, Seconds: seconds}
		})})
	}
	return plan
}

// nativePlan has what runs without an engine.
func nativePlan() []Group {
	return []Group{
		{"costs", 7, costing("native")},
		{"alive", 1, []Job{{Workload: "alive", Contestants: []string{"go"}, Limit: 1_000_000}}},
	}
}

func each(contestants []string, job func(contestant string) Job) (jobs []Job) {
	for _, c := range contestants {
		jobs = append(jobs, job(c))
	}
	return jobs
}

// switching has a job for each contestant, and one for raw JSPI with one stack, the base of the ratios. It warms up
// with half a million yields: the engine's optimising compiler needs that long on a busy machine.
func switching(width, steps int, contestants ...string) []Job {
	job := func(c string, width int) Job {
		return Job{Workload: "switch", Contestants: []string{c}, Sizes: []int{width}, Steps: steps,
			Samples: 18, Warmup: 10}
	}
	jobs := each(contestants, func(c string) Job { return job(c, width) })
	if width > 1 {
		jobs = slices.Insert(jobs, 1, job("raw", 1)) // beside fiberfill
	}
	return jobs
}

// starting has a process for each contestant and number of calls, because the first wave in it counts, too. After about
// 70 waves of 1,000 the engine's compilers have finished with fiberfill's code, and 100 samples take no longer than a
// tenth of a second. Raw JSPI must not run out of stacks: a tab survives 132,000 calls, but only 40,000 in waves of
// 10,000. Its figures are stable from the fifth wave on, so it gets fewer waves, and only one large one.
func starting(n int, contestants ...string) []Job {
	return each(contestants, func(c string) Job {
		samples, warmup := 100, 150
		if n > 1000 {
			samples = 9
		}
		if c == "raw" {
			samples, warmup = 15, 60
			if n > 1000 {
				samples, warmup = 1, 30
			}
		}
		return Job{Workload: "start", Contestants: []string{c}, Sizes: []int{n}, Calls: 1000, Samples: samples,
			Warmup: warmup}
	})
}

// fetching has several samples of the 1,000, which vary by a fifth, and one of the 10,000. The warm-up keeps the first
// contestant from paying for a fresh page.
func fetching(contestants ...string) Job {
	return Job{Workload: "fetch", Contestants: contestants, Sizes: fetches, Samples: 5, Warmup: 1, Limit: inFlight}
}

func computing(contestants ...string) Job {
	return Job{Workload: "compute", Contestants: contestants, Samples: 15, Warmup: 4}
}

// costing has a process for each operation, except that compared operations share one. In each round the substrates of
// a host take turns.
func costing(host string) (jobs []Job) {
	job := func(s substrate, operations ...string) {
		jobs = append(jobs, Job{Workload: "costs", Contestants: []string{s.contestant}, Operations: operations,
			Samples: 5, Warmup: 2, Millis: 20})
	}
	for _, o := range operations {
		for _, s := range substrates {
			switch {
			case s.host != host || !s.has(o.name) || slices.Contains(compared, o.name):
			case o.name == "fibers1.resume":
				together := append([]string{o.name}, compared...)
				job(s, slices.DeleteFunc(together, func(name string) bool { return !s.has(name) })...)
			default:
				job(s, o.name)
			}
		}
	}
	return jobs
}
