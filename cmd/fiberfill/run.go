package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/fiberfill/fiberfill/guest"
)

// run is one invocation of `fiberfill run`.
type run struct {
	fibers  int // 0: one fiber, without a number
	path    string
	export  string
	args    []string
	options guest.Options

	stdin          io.Reader
	stdout, stderr io.Writer

	guest   *guest.Guest
	calls   []*guest.Call
	printed int   // how many of calls are printed
	lost    error // not nil: writing results failed

	trapped, failed bool             // at least one
	cancelled       int              // how many fibers a signal cancelled
	exit            *guest.ExitError // not nil: the guest called proc_exit
}

// flags returns the command's flags; help.txt explains them.
func (r *run) flags() *flag.FlagSet {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the caller prints
	flags.IntVar(&r.fibers, "fibers", 0, "")
	flags.Func("dir", "", r.addMount)
	flags.Func("env", "", r.addVariable)
	flags.Func("stack-size", "", func(text string) error {
		n, err := strconv.ParseUint(text, 0, 32)
		if err != nil || n < 1024 || n%16 != 0 || n > 1<<30 {
			return errors.New("it must be a number of bytes, a multiple of 16 from 1024 to 1 GiB")
		}
		r.options.Stacks.Size = uint32(n)
		return nil
	})
	flags.Func("stacks", "", func(text string) error {
		switch source := guest.Source(text); source {
		case guest.Allocator, guest.Grow, guest.Serial, guest.Copy:
			r.options.Stacks.Source = source
			return nil
		}
		return fmt.Errorf("it must be %s, %s, %s or %s", guest.Allocator, guest.Grow, guest.Serial, guest.Copy)
	})
	flags.StringVar(&r.options.Stacks.Pointer, "stack-pointer", "", "")
	return flags
}

func parseRun(args []string) (*run, error) {
	r := &run{}
	flags := r.flags()
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	numbered := false
	flags.Visit(func(f *flag.Flag) { numbered = numbered || f.Name == "fibers" })
	if numbered && r.fibers < 1 {
		return nil, fmt.Errorf("--fibers %d: it must be at least 1", r.fibers)
	}
	if flags.NArg() == 0 {
		return nil, errors.New("run: name a wasm file to run")
	}
	r.path = flags.Arg(0)
	r.options.Name = filepath.Base(r.path)
	if flags.NArg() > 1 {
		r.export, r.args = flags.Arg(1), flags.Args()[2:]
	}
	if numbered && r.export == start { // the C, Rust and Go libraries trap in the second call, or worse
		return nil, fmt.Errorf("--fibers %d: the fibers share one instance, and %s is the entry of a program, which "+
			"runs once in its own; name another export, or start fiberfill once for each", r.fibers, start)
	}
	return r, nil
}

func (r *run) addMount(text string) error {
	m := guest.Mount{Host: text, Guest: "/"}
	if host, in, ok := strings.Cut(text, ":"); ok {
		m = guest.Mount{Host: host, Guest: in}
	}
	if info, err := os.Stat(m.Host); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a directory", m.Host)
	}
	at := func(m guest.Mount) string { return path.Clean("/" + m.Guest) }
	for _, other := range r.options.Mounts {
		if at(other) == at(m) { // the runtime would show only the last one
			return fmt.Errorf("%s is shown as %s already; show one of the two at a different path, by --dir HOST:GUEST",
				other.Host, at(m))
		}
	}
	r.options.Mounts = append(r.options.Mounts, m)
	return nil
}

func (r *run) addVariable(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return errors.New("it must be of the form NAME=VALUE")
	}
	r.options.Env = append(r.options.Env, guest.Variable{Name: name, Value: value})
	return nil
}

// start is the entry of a WASI command, which gets its arguments from WASI.
const start = "_start"

// run returns the exit code.
func (r *run) run() int {
	ctx, interrupt := r.untilSignal()
	defer interrupt.stop()
	if err := r.prepare(ctx); errors.As(err, &r.exit) { // called in the start function
		return int(r.exit.Code)
	} else if err != nil {
		r.say("%v", err)
		return exitUsage
	}
	defer r.guest.Close()
	r.guest.Run()
	if r.lost != nil {
		r.say("the results cannot be written: %v", r.lost)
	}
	switch {
	case interrupt.code.Load() != 0:
		r.say("%d of %d fibers were cancelled", r.cancelled, len(r.calls))
		return int(interrupt.code.Load())
	case r.exit != nil:
		return int(r.exit.Code)
	case r.failed, r.lost != nil:
		return exitFailed
	}
	return exitDone
}

// prepare makes the instance and all fibers.
func (r *run) prepare(ctx context.Context) error {
	binary, err := os.ReadFile(r.path)
	if err != nil {
		return err
	}
	o := &r.options
	o.Stdin, o.Stdout, o.Stderr = r.stdin, r.stdout, r.stderr
	o.Warn = func(text string) { fmt.Fprintln(r.stderr, "fiberfill: "+text) }
	o.Imports = guest.Page(func(c *guest.Call, code, value int32) {
		fmt.Fprintf(r.stderr, "%s: log %d %d\n", c.Name, code, value)
	})
	o.Ended = r.ended
	if r.export == start {
		o.Args, r.args = r.args, nil
	}
	if r.guest, err = guest.New(ctx, binary, *o); err != nil {
		return err
	}
	for i := range max(1, r.fibers) {
		name, args := r.export, r.args
		if r.fibers > 0 {
			number := strconv.Itoa(i)
			name, args = name+"#"+number, make([]string, len(r.args))
			for j, arg := range r.args {
				args[j] = strings.ReplaceAll(arg, "{i}", number)
			}
		}
		values, err := r.guest.Parse(r.export, args)
		var c *guest.Call
		if err == nil {
			c, err = r.guest.Go(name, r.export, values...)
		}
		if err != nil {
			r.guest.Close()
			return err
		}
		r.calls = append(r.calls, c)
	}
	return nil
}

// ended is called for each fiber that is over.
func (r *run) ended(c *guest.Call) {
	exits := errors.As(c.Err, &r.exit)
	switch {
	case c.State == guest.Cancelled && !exits:
		r.cancelled++
	case c.State == guest.Failed:
		r.failed = true
		r.say("%v", c.Err)
	}
	if trap := (*guest.TrapError)(nil); errors.As(c.Err, &trap) && !r.trapped {
		r.trapped = true // once: a thousand fibers with the same bug would print a million lines
		r.list(c)
		r.listProposal(trap.Fibers)
	}
	r.print()
}

// print prints the finished results in the order of the fibers' numbers, not of their ends.
func (r *run) print() {
	for ; r.printed < len(r.calls); r.printed++ {
		c := r.calls[r.printed]
		switch {
		case !c.Over():
			return
		case c.State != guest.Done || c.Err != nil || r.lost != nil:
		case r.fibers > 0:
			_, r.lost = fmt.Fprintf(r.stdout, "%s\t%v\n", c.Name, c)
		case len(c.Results) > 0:
			_, r.lost = fmt.Fprintln(r.stdout, c)
		}
	}
}

// list prints the fibers at the moment of a trap.
func (r *run) list(trapped *guest.Call) {
	live := r.guest.Calls()
	over := max(0, len(r.calls)-len(live)-1)
	fmt.Fprintf(r.stderr, "The fibers at that moment, without the %d that had ended:\n", over)
	w := tabwriter.NewWriter(r.stderr, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  FIBER\tEXPORT\tSTATE\tFOR\tWAITS FOR")
	now := time.Now()
	for _, c := range append([]*guest.Call{trapped}, live...) {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%v\t%s\n", c.Name, c.Export, c.State, now.Sub(c.Since).Round(time.Millisecond),
			c.WaitsFor)
	}
	w.Flush()
}

// listProposal prints the fibers that the guest itself made, by the operations of a proposal.
func (r *run) listProposal(fibers []guest.ProposalFiber) {
	if len(fibers) == 0 {
		return
	}
	fmt.Fprintf(r.stderr, "The guest's own fibers at that moment; the trap has ended the active one and the busy "+
		"ones:\n")
	w := tabwriter.NewWriter(r.stderr, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  FIBER\tSTATE\tFUNCTION")
	for _, f := range fibers {
		fmt.Fprintf(w, "  %s %d\t%s\ttable[%d]\n", f.System, f.ID, f.State, f.Body)
	}
	w.Flush()
}

func (r *run) say(format string, values ...any) {
	fmt.Fprintf(r.stderr, "fiberfill: "+format+"\n", values...)
}

// interruption is the state of the signal handling.
type interruption struct {
	code atomic.Int32 // the exit code; 0: no signal so far
	stop func()
}

// atOnce is how soon after the first signal a second one counts as the same: the command timeout signals the process
// and then its group.
const atOnce = 500 * time.Millisecond

// untilSignal returns a context that the first SIGINT or SIGTERM cancels. A second one ends the process.
func (r *run) untilSignal() (context.Context, *interruption) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	i := &interruption{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var first time.Time
		for s := range signals {
			code := 128 + int(s.(syscall.Signal))
			if !i.code.CompareAndSwap(0, int32(code)) {
				if time.Since(first) > atOnce {
					os.Exit(code)
				}
				continue
			}
			first = time.Now()
			r.say("%v: cancelling the fibers; a second signal ends the process at once", s)
			cancel(fmt.Errorf("%v", s))
		}
	}()
	i.stop = func() {
		signal.Stop(signals)
		close(signals)
		<-done
		cancel(nil)
	}
	return ctx, i
}
