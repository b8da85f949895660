package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// guests returns the recipes of all committed wasm but the core: every WAT file of the repository, and the C guest. The Go
// guest is not committed: every machine that builds this repository has a Go toolchain, and its wasm has four megabytes.
func guests() ([]binary, error) {
	list := []binary{{"examples/c-fetch/guest.wasm", compileC("examples/c-fetch/guest.c")}}
	texts, err := sources(".wat")
	for _, text := range texts {
		list = append(list, binary{strings.TrimSuffix(text, ".wat") + ".wasm", assemble(text)})
	}
	return list, err
}

func guestsCommand(flags *flag.FlagSet) func() error {
	check := flags.Bool("check", false, checkUsage)
	return func() error {
		list, err := guests()
		failed := []error{err}
		for _, g := range list {
			failed = append(failed, rebuild(g, *check))
		}
		return errors.Join(failed...)
	}
}

// assembleFlags are for a WAT file that says nothing else. They enable exactly what guests use: with all features
// Binaryen writes encodings that no engine reads yet. -g keeps the names of functions for stack traces.
const assembleFlags = "-g --enable-mutable-globals --enable-exception-handling --enable-reference-types --enable-multivalue"

// ownRecipe is how a WAT file says else: a comment with the command that assembles it.
var ownRecipe = regexp.MustCompile(`(?m)^;;\s+wasm-as (.*) \S+\.wat -o \S+\.wasm$`)

// assemble is the recipe of a guest in WAT.
func assemble(source string) func(out string) error {
	return func(out string) error {
		assembler, err := npmTool("wasm-as")
		if err != nil {
			return err
		}
		text, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		flags := assembleFlags
		if own := ownRecipe.FindSubmatch(text); own != nil {
			flags = string(own[1])
		}
		return shell(assembler, append(strings.Fields(flags), source, "-o", out)...)
	}
}

// compileC is the recipe of a guest in C without a C library. -fno-builtin keeps the compiler from calling a memcpy that
// nobody provides.
func compileC(source string) func(out string) error {
	return func(out string) error {
		if err := install("clang"); err != nil {
			return err
		}
		return shell("clang-19", "--target=wasm32", "-nostdlib", "-fno-builtin", "-O2", "-Wall", "-Wextra",
			"-Wl,--no-entry", "-o", out, source)
	}
}

// compileGo builds the Go guest with the standard toolchain.
func compileGo(dir, out string) error {
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	c := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, "./"+dir)
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	return run(c)
}
