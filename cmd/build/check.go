package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
)

func checkCommand(*flag.FlagSet) func() error {
	return func() error {
		// All checks run, so that one run shows every problem. make test runs them too, except the last, because a work
		// tree under test may have changes.
		return errors.Join(formatted(), narrow(), vetted(), typed(), clean())
	}
}

func formatted() error {
	files, err := sources(".go")
	if err != nil {
		return err
	}
	list, err := output("gofmt", append([]string{"-l"}, files...)...)
	if err != nil {
		return err
	}
	if list != "" {
		return fmt.Errorf("not formatted by gofmt:\n%s", list)
	}
	var scripts []string
	for _, extension := range []string{".ts", ".js", ".mjs", ".css", ".md"} {
		files, err := sources(extension)
		if err != nil {
			return err
		}
		scripts = append(scripts, files...)
	}
	prettier, err := npmTool("prettier")
	if err != nil {
		return err
	}
	return shell(prettier, append([]string{"--log-level=warn", "--check"}, scripts...)...)
}

// vetted runs go vet for this machine and for the browser: the first run does not see the browser's files.
func vetted() error {
	browser := exec.Command("go", "vet", "./polyfill/...", "./asyncio/...", "./jsglue/...", "./examples/...",
		"./bench/channels")
	browser.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	return errors.Join(shell("go", "vet", "./..."), run(browser))
}

// typed checks all sources of the project with TypeScript.
func typed() error {
	tsc, err := npmTool("tsc")
	if err != nil {
		return err
	}
	return shell(tsc, "-p", ".")
}

// clean fails if git sees a change in the work tree, which a build or a test may have left behind.
func clean() error {
	status, err := output("git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if status != "" {
		return fmt.Errorf("the work tree is not clean:\n%s", status)
	}
	return nil
}
