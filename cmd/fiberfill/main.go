// Command fiberfill runs a page's guests on a server: wasm modules whose imports may wait, many calls at once in one
// instance. See `fiberfill --help`.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

//go:embed help.txt
var help string

// Exit codes, apart from the guest's own and those of signals; help.txt lists them.
const (
	exitDone    = 0
	exitFailed  = 1 // a fiber has failed
	exitUsage   = 2 // nothing was run
	exitTimeout = 124
)

func main() { os.Exit(fiberfill(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// fiberfill is the program as a function, for tests. It returns the exit code.
func fiberfill(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	r := &run{stdin: stdin, stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use:           "fiberfill",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no command given; the commands are run, types and completion")
			}
			return fmt.Errorf("unknown command %q; the commands are run, types and completion", args[0])
		},
		Args: cobra.ArbitraryArgs,
	}
	root.SetHelpFunc(func(*cobra.Command, []string) { io.WriteString(stdout, help) })
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(r.command(&code), &cobra.Command{
		Use:               "types",
		ValidArgsFunction: completeTypes,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("types: name one wasm file")
			}
			return types(args[0], stdout)
		},
	})
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"})
	completion.RunE = func(*cobra.Command, []string) error {
		return errors.New("completion: name one shell: bash, fish, powershell or zsh")
	}
	if err := root.Execute(); err != nil {
		fmt.Fprintf(stderr, "fiberfill: %v\nRun `fiberfill --help` for help.\n", err)
		return exitUsage
	}
	return code
}

// version is what --version prints: this program's, and those of what it consists of.
func version() string {
	own, wazero := "(unknown)", "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok {
		own = info.Main.Version
		for _, m := range info.Deps {
			if m.Path == "github.com/tetratelabs/wazero" {
				wazero = m.Version
			}
		}
	}
	return fmt.Sprintf("fiberfill %s (wazero %s, %s, %s/%s)", own, wazero, runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
}
