// Command fiberfill runs a page's guests on a server: wasm modules whose imports may wait, many calls at once in one
// instance. See `fiberfill --help`.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

//go:embed help.txt
var help string

// Exit codes, apart from the guest's own and those of signals; help.txt lists them.
const (
	exitDone   = 0
	exitFailed = 1 // a fiber has failed
	exitUsage  = 2 // nothing was run
)

func main() { os.Exit(fiberfill(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// fiberfill is the program as a function, for tests. It returns the exit code.
func fiberfill(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	wrong := func(err error) int {
		fmt.Fprintf(stderr, "fiberfill: %v\nRun `fiberfill --help` for help.\n", err)
		return exitUsage
	}
	if len(args) == 0 {
		return wrong(errors.New("no command given; the commands are run and types"))
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		io.WriteString(stdout, help)
		return exitDone
	case "run":
	case "types":
		if len(args) != 2 {
			return wrong(errors.New("types: name one wasm file"))
		}
		if err := types(args[1], stdout); err != nil {
			return wrong(err)
		}
		return exitDone
	default:
		return wrong(fmt.Errorf("unknown command %q; the commands are run and types", args[0]))
	}
	r, err := parseRun(args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		io.WriteString(stdout, help)
		return exitDone
	case err != nil:
		return wrong(err)
	}
	r.stdin, r.stdout, r.stderr = stdin, stdout, stderr
	return r.run()
}
