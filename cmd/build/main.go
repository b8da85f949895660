// Command build is the only build tool of fiberfill. Its commands write every generated file of this repository. They
// can also rebuild every committed binary (the core, the guests) and compare it.
//
//	go run ./cmd/build bundle     # the script tag and the npm package
//	go run ./cmd/build demo       # the demo page with its guests
//	go run ./cmd/build --help     # all commands
//
// The Makefile has a target for each command. The tool bundles with esbuild's Go API, so bundling runs no JavaScript;
// only the type declarations need the compiler from npm.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// command is a subcommand. setup declares its flags and returns the function that runs once they are parsed.
type command struct {
	name  string
	about string
	setup func(flags *flag.FlagSet) func() error
}

var commands = []command{
	{"bundle", "write web/dist/fiberfill.js and web/dist/npm, print their sizes, fail over the budget", bundleCommand},
	{"demo", "bundle, then write web/dist/demo: the page with the guests it runs", demoCommand},
	{"serve", "serve web/dist/demo on the loopback interface and print its address", serveCommand},
	{"demo-report", "run the demo in headless Chromium, print the table, write a screenshot", reportCommand},
	{"docs", "demo, then write web/dist/site: the documents as a site, with the reference and the demo", docsCommand},
	{"bench", "measure fiberfill and its alternatives in real engines, write docs/bench; -quick: only the ratios",
		benchCommand},
	{"core", "rebuild the wasm of the core and of the actors' rules with TinyGo; -check compares instead of writing",
		coreCommand},
	{"guests", "rebuild the wasm of the C and WAT sources; -check compares instead of writing", guestsCommand},
	{"install", "install what the named groups need: " + groupNames(), installCommand},
	{"check", "gofmt, Prettier, line width, go vet, TypeScript's checker, and a clean work tree", checkCommand},
	{"rules", "run the tests that may carry ids of rules, and print on which substrates each rule is tested",
		rulesCommand},
	{"test", "run every Go and JavaScript test and end with one summary line", testCommand},
}

func main() {
	err := dispatch(os.Args[1:])
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "build:", err)
	os.Exit(1)
}

// dispatch runs the command that args name, in the root of the repository, wherever the tool was started.
func dispatch(args []string) error {
	if len(args) == 0 || args[0] == "-h" || args[0] == "-help" || args[0] == "--help" || args[0] == "help" {
		usage(os.Stdout)
		return nil
	}
	for _, c := range commands {
		if c.name != args[0] {
			continue
		}
		flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
		flags.Usage = func() {
			fmt.Fprintf(flags.Output(), "go run ./cmd/build %s [flags]\n\n%s\n\n", c.name, c.about)
			flags.PrintDefaults()
		}
		run := c.setup(flags)
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if flags.NArg() > 0 && c.name != "install" { // "core check" would overwrite what "core -check" compares
			return fmt.Errorf("%s takes no argument %q; %s --help lists its flags", c.name, flags.Arg(0), c.name)
		}
		if err := enterRoot(); err != nil {
			return err
		}
		return run()
	}
	usage(os.Stderr)
	return fmt.Errorf("unknown command %q", args[0])
}

func usage(w io.Writer) {
	fmt.Fprint(w, "usage: go run ./cmd/build <command> [flags]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-12s %s\n", c.name, c.about)
	}
	fmt.Fprint(w, "\n<command> --help lists the flags of a command.\n")
}
