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

	"github.com/fiberfill/fiberfill/e2e/browser"
	"github.com/fiberfill/fiberfill/internal/webserver"
)

// host runs jobs, each in a fresh process of an engine.
type host interface {
	// run returns what was measured. If the process died of the job, or had to be ended by ctx, the error says so, and
	// progress is the last it told.
	run(ctx context.Context, job Job) (measured Measured, progress int, err error)
}

// errDied is how a process ends that has more stacks than it can bear.
var errDied = errors.New("the process died")

type chromium struct {
	browser *browser.Browser
	server  *webserver.Server
}

func (h chromium) run(ctx context.Context, job Job) (measured Measured, progress int, err error) {
	tab, err := h.browser.Open(ctx, h.server.URL+"/page.html")
	if err != nil {
		return nil, 0, err
	}
	defer tab.Close()
	err = tab.Eval(ctx, `(job) => bench(job)`, &measured, job)
	for _, message := range tab.Messages() {
		progress = max(progress, told(strings.TrimPrefix(message, "log: ")))
	}
	if err != nil && strings.Contains(err.Error(), "the tab crashed") {
		err = errDied
	}
	return measured, progress, err
}

type firefox struct{ server *webserver.Server }

func (h firefox) run(ctx context.Context, job Job) (measured Measured, progress int, err error) {
	_, err = browser.Firefox(ctx, h.server.URL+"/page.html?job="+url.QueryEscape(job.text()), func(ctx context.Context) ([]byte, error) {
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

// process is a program of this machine that is given the job and prints what it has measured: Node, and what costs is
// compiled to.
type process struct {
	command []string
	dir     string
}

func (h process) run(ctx context.Context, job Job) (measured Measured, progress int, err error) {
	c := exec.CommandContext(ctx, h.command[0], append(h.command[1:], job.text())...)
	c.Dir = h.dir
	var stderr bytes.Buffer
	c.Stderr = &stderr
	text, err := c.Output()
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		progress = max(progress, told(lines.Text()))
		if strings.HasPrefix(lines.Text(), "{") {
			err = errors.Join(err, json.Unmarshal(lines.Bytes(), &measured))
		}
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && !exit.Exited() {
		err = errDied // by a signal; a thrown error has an exit code
	}
	if err != nil && !errors.Is(err, errDied) {
		err = fmt.Errorf("%s: %w\n%s", filepath.Base(h.command[0]), err, stderr.Bytes())
	}
	return measured, progress, err
}

// told reads a line of progress: "progress alive 5000".
func told(line string) (n int) {
	var name string
	if got, _ := fmt.Sscanf(line, "progress %s %d", &name, &n); got != 2 {
		return 0
	}
	return n
}
