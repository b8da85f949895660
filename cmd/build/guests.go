package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
)

// guests are the committed wasm files that are not the core: the worker, a test's guest, the guests of the examples. The Go guest is not among them: every machine that builds
// this repository has a Go toolchain, and its wasm has two megabytes.
var guests = []binary{
	{"jsglue/worker.wasm", assemble("jsglue/worker.wat", "--enable-mutable-globals", "--enable-exception-handling", "--enable-reference-types", "--enable-gc", "--enable-multivalue")},
	{"jsglue/wasm/testdata/border.wasm", assemble("jsglue/wasm/testdata/border.wat", "--enable-mutable-globals", "--enable-exception-handling", "--enable-reference-types", "--enable-gc", "--enable-multivalue", "--enable-simd")},
	{"examples/wat-fetch/guest.wasm", assemble("examples/wat-fetch/guest.wat", "-g", "--enable-mutable-globals", "--enable-exception-handling")},
	{"examples/c-fetch/guest.wasm", compileC("examples/c-fetch/guest.c")},
}

func guestsCommand(flags *flag.FlagSet) func() error {
	check := flags.Bool("check", false, checkUsage)
	return func() error {
		var failed []error
		for _, g := range guests {
			failed = append(failed, rebuild(g, *check))
		}
		return errors.Join(failed...)
	}
}

// assemble is the recipe of a guest in WAT: Binaryen's assembler with exactly the features that the source uses, because
// with all of them it writes encodings that no engine reads yet.
func assemble(source string, flags ...string) func(out string) error {
	return func(out string) error {
		assembler, err := npmTool("wasm-as")
		if err != nil {
			return err
		}
		return shell(assembler, append(flags, source, "-o", out)...)
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
