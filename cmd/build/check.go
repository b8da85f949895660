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
		// All of them run, so that one look shows all there is to mend. make test runs them too, but for the last:
		// whoever tests may have a change in hand.
		return errors.Join(formatted(), vetted(), typed(), clean())
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
	for _, extension := range []string{".ts", ".js", ".mjs", ".css"} {
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

// vetted runs go vet for this machine and for the browser, whose files the first run does not see.
func vetted() error {
	browser := exec.Command("go", "vet", "./polyfill/...", "./asyncio/...", "./jsglue/...", "./examples/...",
		"./bench/channels")
	browser.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	return errors.Join(shell("go", "vet", "./..."), run(browser))
}

// typed has TypeScript check all sources of the project.
func typed() error {
	tsc, err := npmTool("tsc")
	if err != nil {
		return err
	}
	return shell(tsc, "-p", ".")
}

// clean fails if building or testing left something behind that git would see.
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
