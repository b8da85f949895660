package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/fiberfill/fiberfill/internal/browser"
	"github.com/fiberfill/fiberfill/internal/webserver"
)

// host runs jobs, each in a fresh process of an engine.
type host interface {
	// run returns the outcome of each job. If the host can make jobs take turns, a sample each, it runs them at the
	// same time, otherwise one after another.
	run(ctx context.Context, jobs []Job) []outcome
}

// outcome is the outcome of a job. If the process died, or had to be ended, err says so, and progress is the last
// progress it reported.
type outcome struct {
	measured Measured
	progress int
	err      error
}

// errDied is the error of a process that died, as one does with too many stacks.
var errDied = errors.New("the process died")

type chromium struct {
	browser *browser.Browser
	server  *webserver.Server
}

func (h chromium) run(ctx context.Context, jobs []Job) []outcome {
	outcomes := make([]outcome, len(jobs))
	tabs := make([]*browser.Tab, len(jobs))
	for i := range jobs {
		if tabs[i], outcomes[i].err = h.browser.Open(ctx, h.server.URL+"/page.html"); outcomes[i].err == nil {
			defer tabs[i].Close()
		}
	}
	h.settle(ctx)
	if len(jobs[0].Contestants) == 1 { // compared with another tab
		if err := h.browser.Pin(ctx); err != nil {
			for i := range outcomes {
				outcomes[i].err = errors.Join(outcomes[i].err, err)
			}
		}
	}
	for going := true; going; {
		going = false
		for i, job := range jobs {
			if o := &outcomes[i]; o.err == nil && o.measured == nil {
				going = true
				o.err = tabs[i].Eval(ctx, `(job) => step(job)`, &o.measured, job)
			}
		}
	}
	for i, tab := range tabs {
		if tab == nil {
			continue
		}
		o := &outcomes[i]
		for _, message := range tab.Messages() {
			o.progress = max(o.progress, told(strings.TrimPrefix(message, "log: ")))
		}
		if errors.Is(o.err, browser.ErrCrashed) {
			o.err = errDied
		}
	}
	return outcomes
}

// settle gives the browser time to finish the work that new tabs cause, but at most some seconds: on a machine that is
// always busy all contestants are measured busy.
func (h chromium) settle(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	_ = h.browser.Quiet(limited)
}

// oneByOne runs jobs one after another.
func oneByOne(jobs []Job, run func(Job) (Measured, int, error)) []outcome {
	outcomes := make([]outcome, len(jobs))
	for i, job := range jobs {
		o := &outcomes[i]
		o.measured, o.progress, o.err = run(job)
	}
	return outcomes
}

type firefox struct{ server *webserver.Server }

func (h firefox) run(ctx context.Context, jobs []Job) []outcome {
	return oneByOne(jobs, func(job Job) (Measured, int, error) { return h.one(ctx, job) })
}

func (h firefox) one(ctx context.Context, job Job) (measured Measured, progress int, err error) {
	_, err = browser.Firefox(ctx, h.server.URL+"/page.html?job="+url.QueryEscape(job.text()),
		func(ctx context.Context) ([]byte, error) {
			for {
				body, err := h.server.Report(ctx)
				if err != nil {
					return nil, err
				}
				var report struct {
					Progress string
					Measured Measured
					Error    string
				}
				if err := json.Unmarshal(body, &report); err != nil {
					return nil, err
				}
				progress = max(progress, told(report.Progress))
				measured = report.Measured
				if report.Error != "" {
					return nil, errors.New(report.Error)
				}
				if measured != nil {
					return nil, nil
				}
			}
		})
	return measured, progress, err
}

// process is a native program that gets a job and prints its measurements: Node, and the compiled command costs.
type process struct {
	command []string
	dir     string
}

func (h process) run(ctx context.Context, jobs []Job) []outcome {
	return oneByOne(jobs, func(job Job) (Measured, int, error) { return h.one(ctx, job) })
}

func (h process) one(ctx context.Context, job Job) (measured Measured, progress int, err error) {
	c := exec.CommandContext(ctx, h.command[0], append(h.command[1:], job.text())...)
	c.Dir = h.dir
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	if err := c.Start(); err != nil {
		return nil, 0, err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for measured == nil && err == nil && lines.Scan() {
		progress = max(progress, told(lines.Text()))
		if strings.HasPrefix(lines.Text(), "{") {
			err = json.Unmarshal(lines.Bytes(), &measured)
		}
	}
	if measured != nil {
		// It is not left to end by itself: Node 26 sometimes never does, when a thread that compiles waits for a
		// collection that nobody begins any more.
		_ = c.Process.Kill()
		_ = c.Wait() // says that it was killed
		return measured, progress, nil
	}
	err = errors.Join(err, c.Wait())
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && !exit.Exited() {
		err = errDied // killed by a signal; a thrown error has an exit code
	}
	if err != nil && !errors.Is(err, errDied) {
		err = fmt.Errorf("%s: %w\n%s", filepath.Base(h.command[0]), err, stderr.Bytes())
	}
	return measured, progress, err
}

// told parses a line of progress: "progress alive 5000".
func told(line string) (n int) {
	var name string
	if got, _ := fmt.Sscanf(line, "progress %s %d", &name, &n); got != 2 {
		return 0
	}
	return n
}
