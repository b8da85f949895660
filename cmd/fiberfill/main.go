// Command fiberfill runs the guests of a page on a server: wasm modules whose imports may wait, many calls at once in
// one instance. `fiberfill --help` says how.
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

// Exit codes beside those of the guest itself and of signals; help.txt lists them.
const (
	exitDone   = 0
	exitFailed = 1 // a fiber has failed
	exitUsage  = 2 // nothing was run
)

func main() { os.Exit(fiberfill(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// fiberfill is the program without the process.
func fiberfill(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	wrong := func(err error) int {
		fmt.Fprintf(stderr, "fiberfill: %v\nRun `fiberfill --help` for help.\n", err)
		return exitUsage
	}
	if len(args) == 0 {
		return wrong(errors.New("there is no command; the one there is: run"))
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		io.WriteString(stdout, help)
		return exitDone
	case "run":
	default:
		return wrong(fmt.Errorf("there is no command %q; the one there is: run", args[0]))
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
