package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const checkUsage = "rebuild into a temporary file and fail if the committed one differs"

func coreCommand(flags *flag.FlagSet) func() error {
	check := flags.Bool("check", false, checkUsage)
	return func() error {
		return errors.Join(
			rebuild(binary{"jsglue/core/core.wasm", compileTinygo("./jsglue/core", "2")}, *check),
			rebuild(binary{"jsglue/proposals/proposals.wasm", compileTinygo("./jsglue/proposals", "z")}, *check),
			rebuild(binary{"jsglue/actors/actors.wasm", compileTinygo("./jsglue/actors", "2")}, *check),
			rebuild(binary{"jsglue/lower/lower.wasm",
				compileTinygoFor("jsglue/lower/lower.json", "./jsglue/lower", "2")}, *check))
	}
}

// binary is a committed wasm file and its recipe. The recipe must give the same bytes on every machine at any time.
type binary struct {
	path string
	make func(out string) error
}

// rebuild builds a binary. With check it leaves the committed file alone and fails if the two differ.
func rebuild(b binary, check bool) error {
	dir, err := os.MkdirTemp("", "fiberfill-rebuild")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fresh := filepath.Join(dir, filepath.Base(b.path))
	if err := b.make(fresh); err != nil {
		return err
	}
	built, err := os.ReadFile(fresh)
	if err != nil {
		return err
	}
	if !check {
		fmt.Printf("%-40s %8s bytes %8s brotli\n", b.path, count(len(built)), count(brotliSize(built)))
		return writeFile(b.path, built)
	}
	committed, err := os.ReadFile(b.path)
	if err != nil {
		return err
	}
	if !bytes.Equal(built, committed) {
		return fmt.Errorf("%s differs from what its source builds to: committed %s bytes (sha256 %.6x), rebuilt "+
			"%s bytes (sha256 %.6x); rebuild it and commit the result",
			b.path, count(len(committed)), sha256.Sum256(committed), count(len(built)), sha256.Sum256(built))
	}
	fmt.Printf("%-40s matches its source\n", b.path)
	return nil
}

// compileTinygo is the recipe of the core and of the actors' rules: TinyGo compiles, Binaryen shrinks.
//
// The core uses -opt=2, not -opt=z: on the same source in Node 26 that gives 11,702 bytes in brotli and 20 to 30 ns a
// yield, against 10,377 bytes and 40 to 46 ns, and the script's budget has room for the difference. The proposals'
// machine is called once a jump, which costs a promise and a stack switch anyway; there -opt=z saves 2.8 KB of 9.2. A
// panic traps, because it is a bug in fiberfill and its message would cost kilobytes. Memory is not collected. The
// scheduler allocates only tables that double and never shrink, so it never leaks more than it holds; the parser's
// instance is thrown away once it has become large. The collector would be a quarter of the wasm that every page loads
// and compiles before its first fiber.
func compileTinygo(program, opt string) func(out string) error {
	return compileTinygoFor("jsglue/core/core.json", program, opt)
}

// compileTinygoFor does the same for another target. The rewriter's has a larger stack, since it recurses into nested
// blocks.
func compileTinygoFor(target, program, opt string) func(out string) error {
	return func(out string) error {
		root, err := tinygo()
		if err != nil {
			return err
		}
		optimizer, err := npmTool("wasm-opt")
		if err != nil {
			return err
		}
		// Why: RATIONALE.md, "Why does the core not collect its garbage?".
		compiled := out + ".compiled"
		c := exec.Command(filepath.Join(root, "bin", "tinygo"), "build", "-target="+target, "-o", compiled,
			"-opt="+opt, "-no-debug", "-panic=trap", "-scheduler=none", "-gc=leaking", program)
		// TinyGo runs wasm-opt itself, and must find the pinned one.
		c.Env = append(os.Environ(), "TINYGOROOT="+root, "WASMOPT="+optimizer)
		if err := run(c); err != nil {
			return err
		}
		return shell(optimizer, "-Oz", "--enable-bulk-memory", "--enable-nontrapping-float-to-int", "--enable-sign-ext",
			"--enable-mutable-globals",
			"--strip-debug", "--strip-producers", "--strip-target-features", compiled, "-o", out)
	}
}
