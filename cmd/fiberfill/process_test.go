package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// process is the program, run as a process.
type process struct {
	*exec.Cmd
	t      *testing.T
	stdout bytes.Buffer
	lines  *bufio.Scanner // of its standard error stream
}

func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	// The limit ends a process that hangs.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	p := &process{Cmd: exec.CommandContext(ctx, os.Args[0], args...), t: t}
	p.Env = append(os.Environ(), "FIBERFILL_IS_THE_PROGRAM=1")
	p.Stdout = &p.stdout
	pipe, err := p.StderrPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(pipe)
	return p
}

// until reads lines until one matches, and returns them all.
func (p *process) until(pattern string) (lines []string) {
	p.t.Helper()
	for p.lines.Scan() {
		lines = append(lines, p.lines.Text())
		if regexp.MustCompile(pattern).MatchString(p.lines.Text()) {
			return lines
		}
	}
	p.t.Fatalf("no line matches %s:\n%s", pattern, strings.Join(lines, "\n"))
	return nil
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// end waits for the process. It returns its exit code and the rest of its standard error.
func (p *process) end() (int, string) {
	p.t.Helper()
	var rest strings.Builder
	for p.lines.Scan() {
		fmt.Fprintln(&rest, p.lines.Text())
	}
	err := p.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return p.ProcessState.ExitCode(), rest.String()
}

func TestTrapAndInterrupt(t *testing.T) {
	server := serve(t)
	url := server.URL + "/never"
	p := startProcess(t, "run", "--fibers", "4", stacks, "fetch_or_trap", url, "{i}", "2")
	lines := p.until(`^  fetch_or_trap#3 `)
	list := strings.Join(lines, "\n")
	for _, pattern := range []string{
		`^fiberfill: fiber fetch_or_trap#2 trapped in export fetch_or_trap: wasm error: unreachable\n`,
		`\nwasm stack trace:\n\t\.fetch_or_trap\(`,
		`\nThe fibers at that moment, without the 0 that had ended:\n  FIBER +EXPORT +STATE +FOR +WAITS FOR\n`,
		`\n  fetch_or_trap#2 +fetch_or_trap +failed +\S+ *\n`,
		`\n  fetch_or_trap#0 +fetch_or_trap +waiting +\S+ +env.fetch_text ` + regexp.QuoteMeta(url) + `\n`,
		`\n  fetch_or_trap#3 +fetch_or_trap +waiting +\S+ +env.fetch_text ` + regexp.QuoteMeta(url) + `$`,
	} {
		if !regexp.MustCompile(pattern).MatchString(list) {
			t.Errorf("%s is not in\n%s", pattern, list)
		}
	}
	if _, err := server.Await(t.Context(), func(s webserver.Stats) bool { return s.InFlight == 3 }); err != nil {
		t.Fatal(err)
	}
	p.signal(os.Interrupt)
	code, rest := p.end()
	if code != 130 || !strings.Contains(rest, "fiberfill: interrupt: cancelling the fibers") ||
		!strings.Contains(rest, "fiberfill: 3 of 4 fibers were cancelled\n") {
		t.Errorf("exit code %d, %s", code, rest)
	}
	if _, err := server.Await(t.Context(), func(s webserver.Stats) bool { return s.Abandoned == 3 }); err != nil {
		t.Error(err)
	}
}

// Results from before the signal are printed.
func TestTerminate(t *testing.T) {
	server := serve(t)
	p := startProcess(t, "run", "--fibers", "3", cGuest, "item", server.URL+"/hold?id={i}")
	if _, err := server.Await(t.Context(), func(s webserver.Stats) bool { return s.InFlight == 3 }); err != nil {
		t.Fatal(err)
	}
	release(t, server, 1)
	p.until(`^item#1: log 2 `)
	p.signal(syscall.SIGTERM)
	if code, rest := p.end(); code != 143 || !strings.Contains(rest, "2 of 3 fibers were cancelled") {
		t.Errorf("exit code %d, %s", code, rest)
	}
	if got, want := p.stdout.String(), fmt.Sprintf("item#1\t%d\n", webserver.Value(1)); got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

// The command timeout signals a process and then its group. Taken for two signals, they skipped the cleanup in half of
// the runs.
func TestSignalsAtOnceAreOne(t *testing.T) {
	server := serve(t)
	p := startProcess(t, "run", "--fibers", "3", cGuest, "item", server.URL+"/hold?id={i}")
	if _, err := server.Await(t.Context(), func(s webserver.Stats) bool { return s.InFlight == 3 }); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		p.signal(syscall.SIGTERM)
	}
	// The exit code is the system's if one of the signals has come after the end.
	if code, rest := p.end(); !strings.Contains(rest, "3 of 3 fibers were cancelled") {
		t.Errorf("exit code %d, %s", code, rest)
	}
}

// The second signal ends what the first could not: a guest that never waits.
func TestSecondInterrupt(t *testing.T) {
	p := startProcess(t, "run", stacks, "spin")
	p.until(`: log 1 1$`)
	p.signal(os.Interrupt)
	p.until(`a second signal ends the process at once$`)
	p.interruptUntilItEnds()
	if code, rest := p.end(); code != 130 || rest != "" {
		t.Errorf("exit code %d, %s", code, rest)
	}
}

func (p *process) interruptUntilItEnds() {
	go func() { // one of them comes late enough to be a second one
		for range time.Tick(atOnce / 10) {
			if p.Process.Signal(os.Interrupt) != nil {
				return
			}
		}
	}()
}

// The results that have waited for those of fibers with lower numbers are printed before the process ends; with --json
// there is a line for each fiber.
func TestSecondInterruptLosesNoResults(t *testing.T) {
	const spins = "guest/testdata/spins.wasm"
	for option, want := range map[string]string{
		"--quiet=false": "spin#1\t1\nspin#2\t2\n",
		"--json": `{"fiber":"spin#0","export":"spin","state":"cancelled",` +
			`"error":"the process has ended before the fiber"}
{"fiber":"spin#1","export":"spin","state":"done","results":[1]}
{"fiber":"spin#2","export":"spin","state":"done","results":[2]}
`,
	} {
		p := startProcess(t, "run", option, "--fibers", "3", spins, "spin", "{i}")
		p.until(`: log 1 1$`)
		p.interruptUntilItEnds()
		if code, rest := p.end(); code != 130 || p.stdout.String() != want {
			t.Errorf("%s: exit code %d, printed %q, want %q\n%s", option, code, p.stdout.String(), want, rest)
		}
	}
}

// A guest that is cancelled by a signal and waits again and again is ended, without a second one.
func TestInterruptIgnored(t *testing.T) {
	p := startProcess(t, "run", stacks, "deaf")
	p.until(`: log 1 1$`)
	p.signal(os.Interrupt)
	if code, rest := p.end(); !strings.Contains(rest, "it was cancelled and has begun 1000 waits since") {
		t.Errorf("exit code %d, %s", code, rest)
	}
}

// release makes the server answer the /hold of an id.
func release(t *testing.T, server *webserver.Server, id int) {
	t.Helper()
	response, err := http.Post(fmt.Sprintf("%s/release?id=%d", server.URL, id), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
}
