package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fiberfill/fiberfill/guest"
)

// run is one invocation of `fiberfill run`.
type run struct {
	fibers  int // 0: one fiber, without a number
	path    string
	export  string
	args    []string
	options guest.Options
	timeout time.Duration // 0: none
	json    bool
	quiet   bool

	stdin          io.Reader
	stdout, stderr io.Writer

	guest  *guest.Guest
	calls  []*guest.Call
	output output
	bar    *progress

	trapped, failed bool             // at least one
	exit            *guest.ExitError // not nil: the guest called proc_exit
}

// command returns the command for cobra, which writes the exit code to code. help.txt explains the flags.
func (r *run) command(code *int) *cobra.Command {
	command := &cobra.Command{
		Use:               "run",
		ValidArgsFunction: completeRun,
		RunE: func(command *cobra.Command, args []string) error {
			err := r.read(command.Flags(), args)
			if err == nil {
				*code = r.run()
			}
			return err
		},
	}
	flags := command.Flags()
	flags.SetInterspersed(false) // the words after the file are the guest's
	flags.IntVar(&r.fibers, "fibers", 0, "")
	flags.IntVar(&r.options.Concurrency, "concurrency", 0, "")
	flags.DurationVar(&r.timeout, "timeout", 0, "")
	flags.BoolVar(&r.json, "json", false, "")
	flags.BoolVar(&r.quiet, "quiet", false, "")
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
		if !slices.Contains(sources, text) {
			return fmt.Errorf("it must be %s, %s, %s or %s", guest.Allocator, guest.Grow, guest.Serial, guest.Copy)
		}
		r.options.Stacks.Source = guest.Source(text)
		return nil
	})
	command.RegisterFlagCompletionFunc("stacks", cobra.FixedCompletions(sources, cobra.ShellCompDirectiveNoFileComp))
	flags.StringVar(&r.options.Stacks.Pointer, "stack-pointer", "", "")
	return command
}

// sources are the values of --stacks.
var sources = []string{string(guest.Allocator), string(guest.Grow), string(guest.Serial), string(guest.Copy)}

// read reads the command line.
func (r *run) read(flags *pflag.FlagSet, args []string) error {
	for _, name := range []string{"fibers", "concurrency"} {
		if n, _ := flags.GetInt(name); flags.Changed(name) && n < 1 {
			return fmt.Errorf("--%s %d: it must be at least 1", name, n)
		}
	}
	if flags.Changed("timeout") && r.timeout <= 0 {
		return fmt.Errorf("--timeout %v: it must be more than 0", r.timeout)
	}
	if len(args) == 0 {
		return errors.New("run: name a wasm file to run")
	}
	r.path = args[0]
	r.options.Name = filepath.Base(r.path)
	if len(args) > 1 {
		r.export, r.args = args[1], args[2:]
	}
	if r.fibers > 0 && r.export == start { // the C, Rust and Go libraries trap in the second call, or worse
		return fmt.Errorf("--fibers %d: the fibers share one instance, and %s is the entry of a program, which "+
			"runs once in its own; name another export, or start fiberfill once for each", r.fibers, start)
	}
	return nil
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

// translated replaces the names of Go options in messages of package guest by the names of flags.
var translated = strings.NewReplacer(
	"Options.Stacks.Size = ", "--stack-size ", "Options.Stacks.Size", "--stack-size",
	"Options.Stacks.Pointer", "--stack-pointer",
	"Options.Stacks.Source = guest.Allocator", "--stacks allocator",
	"Options.Stacks.Source = guest.Grow", "--stacks grow",
	"Options.Stacks.Source = guest.Serial", "--stacks serial",
	"Options.Stacks.Source = guest.Copy", "--stacks copy",
	"Options.Concurrency", "--concurrency",
)

// misplaced adds a hint to an error about the words after the file, if one of them looks like a flag.
func (r *run) misplaced(err error) error {
	for _, word := range append([]string{r.export}, r.args...) {
		if strings.HasPrefix(word, "--") {
			return fmt.Errorf("%s: flags stand before the file: %w", word, err)
		}
	}
	return err
}

// run returns the exit code.
func (r *run) run() int {
	r.showProgress()
	defer r.bar.end()
	ctx, interrupt := r.untilInterrupted()
	defer interrupt.stop()
	if err := r.prepare(ctx); errors.As(err, &r.exit) { // called in the start function
		return r.exitCode()
	} else if err != nil {
		r.say("%v", translated.Replace(err.Error()))
		return exitUsage
	}
	defer r.guest.Close()
	r.guest.Run()
	r.bar.end()
	if r.output.lost != nil {
		r.say("the results cannot be written: %v", r.output.lost)
	}
	switch {
	case interrupt.code.Load() != 0:
		r.say("%d of %d fibers were cancelled", r.cancelled(), len(r.calls))
		return int(interrupt.code.Load())
	case r.exit != nil:
		return r.exitCode()
	case r.failed, r.output.lost != nil:
		return exitFailed
	}
	return exitDone
}

// exitCode is the guest's. The system keeps only the lower 8 bits of a code, and those of 256 say that all went well.
func (r *run) exitCode() int {
	if r.exit.Code > 255 {
		r.say("the guest has exited with code %d; the exit code is 255, the largest that there is", r.exit.Code)
		return 255
	}
	return int(r.exit.Code)
}

// prepare makes the instance and all fibers.
func (r *run) prepare(ctx context.Context) error {
	binary, err := os.ReadFile(r.path)
	if err != nil {
		return err
	}
	o := &r.options
	o.Stdin, o.Stdout, o.Stderr = r.stdin, r.stdout, r.stderr
	o.Warn = func(text string) { r.note("%s", translated.Replace(text)) }
	o.Imports = guest.Page(func(c *guest.Call, code, value int32) {
		if !r.quiet {
			fmt.Fprintf(r.stderr, "%s: log %d %d\n", c.Name, code, value)
		}
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
			return r.misplaced(err)
		}
		r.calls = append(r.calls, c)
	}
	r.output.expect(r.stdout, r.calls)
	return nil
}
