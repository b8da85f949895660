package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/fiberfill/fiberfill/internal/browser"
	"github.com/fiberfill/fiberfill/internal/webserver"
)

// patience only ends a job that hangs.
const patience = 3 * time.Minute

const quickNode = 20 * time.Second

// Options are the options of Run.
type Options struct {
	Dir  string    // with the files of bench/js and the built ones, such as costs.exe
	Node string    // the executable
	Log  io.Writer // a line for every job

	Sizes []Size // of the programs of js/interpreters.js; nil: they are not there

	// Only is the name of the only group to measure; "" means all.
	Only string

	// If Quick is not the zero time, Run measures only what the ratios need: in Node for at most quickNode, then in
	// Chromium, in as many rounds as end before that time, but in at least one. Otherwise it measures everything,
	// everywhere.
	Quick time.Time
}

// Run measures and returns the results. If a workload kills a contestant, that is a result; if fiberfill throws, that
// is an error.
func Run(ctx context.Context, opt Options) (*Results, error) {
	// Everything started here ends with this function.
	ctx, stop := context.WithCancel(ctx)
	server, err := webserver.Start(ctx, webserver.Options{Files: map[string]fs.FS{"/": os.DirFS(opt.Dir)},
		CrossOriginIsolated: true})
	if err != nil {
		stop()
		return nil, err
	}
	defer func() { stop(); server.Wait() }()
	b, err := browser.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer b.Close()

	r := &runner{log: opt.Log, only: opt.Only, origin: server.URL, results: newResults()}
	byFlag := process{[]string{opt.Node, "--experimental-wasm-wasmfx", "node.js"}, opt.Dir}
	r.results.addSizes(opt.Sizes)
	node := process{[]string{opt.Node, "node.js"}, opt.Dir}
	programs := []Group{{"interpreters", 3, interpret()}}
	if !opt.Quick.IsZero() {
		if opt.Sizes == nil {
			programs = nil
		}
		return r.results, errors.Join(
			r.rounds(ctx, running, node, programs, time.Now()),
			r.rounds(ctx, flagged, byFlag, []Group{{"continuations", 5, continuing(true)}}, time.Now().Add(quickNode)),
			r.rounds(ctx, "chromium", chromium{b, server}, quickPlan(), opt.Quick))
	}
	err = errors.Join(
		r.rounds(ctx, "native", process{[]string{"./costs.exe"}, opt.Dir}, nativePlan(), time.Time{}),
		r.rounds(ctx, "chromium", chromium{b, server}, fullPlan("chromium"), time.Time{}),
		r.rounds(ctx, "node", node, fullPlan("node"), time.Time{}),
		r.rounds(ctx, running, node, programs, time.Time{}),
		r.rounds(ctx, flagged, byFlag, []Group{{"continuations", 5, continuing(false)}}, time.Time{}),
		r.rounds(ctx, "firefox", firefox{server}, fullPlan("firefox"), time.Time{}),
	)
	return r.results, err
}

type runner struct {
	log     io.Writer
	only    string
	origin  string
	results *Results
	round   int // of all rounds of all groups
}

// rounds runs each group of the plan once, then each once more, until all have had their rounds or the time is up.
func (r *runner) rounds(ctx context.Context, name string, h host, plan []Group, end time.Time) error {
	took := make([]time.Duration, len(plan))
	for round, again := 0, true; again; round++ {
		again = false
		for i, g := range plan {
			if round >= g.Rounds || r.only != "" && g.Name != r.only {
				continue
			}
			began := time.Now()
			if round > 0 && !end.IsZero() && began.Add(took[i]).After(end) {
				continue
			}
			jobs := slices.Clone(g.Jobs)
			if round%2 == 1 {
				slices.Reverse(jobs)
			}
			for i := range jobs {
				if round%2 == 1 {
					jobs[i].Contestants = slices.Clone(jobs[i].Contestants)
					slices.Reverse(jobs[i].Contestants)
				}
				if jobs[i].Workload == "fetch" {
					jobs[i].Origin = r.origin
				}
			}
			together := 1
			if jobs[0].takesTurns() {
				together = len(jobs)
			}
			for some := range slices.Chunk(jobs, together) {
				if err := r.run(ctx, name, h, some); err != nil {
					return err
				}
			}
			took[i] = time.Since(began)
			r.round++
			again = true
		}
	}
	return nil
}

// run runs jobs and keeps their measurements. An error ends the benchmark.
func (r *runner) run(ctx context.Context, name string, h host, jobs []Job) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	outcomes := h.run(limited, jobs)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, o := range outcomes {
		if o.err != nil && limited.Err() != nil {
			o.err = limited.Err() // whatever error the process reported
		}
		if err := r.keep(name, jobs[i], o); err != nil {
			return err
		}
	}
	return nil
}

// keep records the outcome of a job.
func (r *runner) keep(host string, job Job, o outcome) error {
	measured, progress, err := o.measured, o.progress, o.err
	r.results.add(host, r.round, measured)
	what := fmt.Sprintf("%s round %d %s %v %v", host, r.round+1, job.Workload, job.Contestants, job.names())
	how := stopped
	switch {
	case errors.Is(err, errDied):
		how = died
	case errors.Is(err, context.DeadlineExceeded):
		how = hung
	case err != nil && job.ours():
		return fmt.Errorf("%s: %w", what, err)
	}
	if job.Workload == "alive" || job.Workload == "calls" {
		count := progress
		if done := measured[job.Contestants[0]][job.Workload]; len(done) > 0 {
			count = int(done[0])
		}
		r.results.ends[key{host, job.Workload, job.Contestants[0]}] = End{count, how}
	} else if err != nil {
		for _, name := range job.names() {
			for _, c := range job.Contestants {
				r.results.notes[key{host, name, c}] = reason(err)
			}
		}
	}
	if err != nil {
		fmt.Fprintf(r.log, "%s: after %d: %v\n", what, progress, err)
		return nil
	}
	fmt.Fprintf(r.log, "%s: %s\n", what, measured)
	return nil
}

// reason returns a word for why there is no figure.
func reason(err error) string {
	switch {
	case errors.Is(err, errDied):
		return "dies"
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("over %v", patience)
	}
	return "fails"
}

// String returns the medians, in the order of the names.
func (m Measured) String() string {
	var parts []string
	for contestant, names := range m {
		for name, samples := range names {
			parts = append(parts, fmt.Sprintf("%s %s %.4g", contestant, name, median(samples)))
		}
	}
	slices.Sort(parts)
	return fmt.Sprint(parts)
}
