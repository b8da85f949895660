package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

const checkUsage = "rebuild into a temporary file and fail if the committed one differs"

func coreCommand(flags *flag.FlagSet) func() error {
	check := flags.Bool("check", false, checkUsage)
	return func() error {
		return rebuildAll([]binary{
			{"jsglue/core/core.wasm", compileTinygo("./jsglue/core", "s")},
			{"jsglue/proposals/proposals.wasm", compileTinygo("./jsglue/proposals", "z")},
			{"jsglue/actors/actors.wasm", compileTinygo("./jsglue/actors", "2")},
			{"jsglue/lower/lower.wasm", compileRewriter},
		}, *check)
	}
}

// binary is a committed wasm file and its recipe. The recipe must give the same bytes on every machine at any time.
type binary struct {
	path string
	make func(out string) error
}

// rebuildAll rebuilds binaries: with check, as many at once as there are cores; without, in order, since some are made
// from others.
func rebuildAll(list []binary, check bool) error {
	atOnce := 1
	if check {
		atOnce = runtime.NumCPU()
	}
	return each(list, atOnce, func(b binary) error { return rebuild(b, check) })
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

// compileTinygo is the recipe of what scripts embed: TinyGo compiles, Binaryen shrinks.
//
// The core uses -opt=s, and cold functions of asyncio, polyfill and internal/wasm are not inlined: in Node 26 a yield
// takes a third less time than with -opt=z, which saves 20 ns of the some 200 of a switch, and the script tag is 100
// bytes larger in brotli. (With everything inlined that -opt=s inlines, it would be 250 bytes larger, and no faster.)
// The proposals' machine is called once a jump, which costs a promise and a stack switch anyway; there -opt=z saves 2.8
// KB of 9.2. A panic traps: it is a bug in fiberfill and its message would cost kilobytes. Memory is not collected. The
// scheduler allocates only tables that double and never shrink, so it never leaks more than it holds; the parser's
// instance is thrown away once it has become large. The collector would be a quarter of the wasm that every page loads
// and compiles before its first fiber.
//
// The recipe drops what TinyGo exports for its own runtime, rebuilds control flow before it is shrunk, twice, and drops
// the alignment of memory accesses, which engines ignore. These save 160, 120 and 50 bytes of the script tag in brotli;
// to put functions first that are called from many places saves 13.
// Exports are marked by //export and not by //go:wasmexport, which asks at each call whether the program has been
// initialized: 60 bytes, and a load and a branch in each step. wasm-ctor-eval, which would run the initialization
// beforehand, saves nothing.
func compileTinygo(program, opt string) func(out string) error {
	return func(out string) error {
		compiled, own := out+".compiled", out+".own"
		// Why: RATIONALE.md, "Why does the core not collect its garbage?".
		if err := tinygoBuild("jsglue/core/core.json", program, opt, "leaking", compiled); err != nil {
			return err
		}
		if err := dropRuntimeExports(compiled, own); err != nil {
			return err
		}
		return optimise(own, out, "--reorder-functions", "--flatten", "--rereloop", "-Oz", "-Oz", "--flatten",
			"--rereloop", "-Oz", "-Oz", "--dealign")
	}
}

// compileRewriter is the recipe of the rewriter, which is loaded when it is needed. It has a target of its own, with a
// larger stack, since it recurses into nested blocks. To rebuild control flow saves 1,050 bytes in brotli, and costs no
// time. With -opt=s it would be 11 KB smaller, and take a third longer for each megabyte.
func compileRewriter(out string) error {
	compiled := out + ".compiled"
	if err := tinygoBuild("jsglue/lower/lower.json", "./jsglue/lower", "2", "leaking", compiled); err != nil {
		return err
	}
	return optimise(compiled, out, "--flatten", "--rereloop", "-Oz", "-Oz")
}

func tinygoBuild(target, program, opt, gc, out string) error {
	root, err := tinygo()
	if err != nil {
		return err
	}
	optimizer, err := npmTool("wasm-opt")
	if err != nil {
		return err
	}
	c := exec.Command(filepath.Join(root, "bin", "tinygo"), "build", "-target="+target, "-o", out,
		"-opt="+opt, "-no-debug", "-panic=trap", "-scheduler=none", "-gc="+gc, program)
	// TinyGo runs wasm-opt itself, and must find the pinned one.
	c.Env = append(os.Environ(), "TINYGOROOT="+root, "WASMOPT="+optimizer)
	return run(c)
}

// wasmFeatures are those that TinyGo's targets here use.
var wasmFeatures = []string{"--enable-bulk-memory", "--enable-nontrapping-float-to-int", "--enable-sign-ext",
	"--enable-mutable-globals"}

// optimise runs passes of wasm-opt.
func optimise(in, out string, passes ...string) error {
	optimizer, err := npmTool("wasm-opt")
	if err != nil {
		return err
	}
	args := slices.Concat(wasmFeatures, passes,
		[]string{"--strip-debug", "--strip-producers", "--strip-target-features", in, "-o", out})
	return shell(optimizer, args...)
}

// runtimeExports are functions that TinyGo exports from every program, for its own compiler.
var runtimeExports = []string{"fminimum", "fminimumf", "fmaximum", "fmaximumf"}

// dropRuntimeExports removes these exports, and what only they use.
func dropRuntimeExports(in, out string) error {
	tool, err := npmTool("wasm-metadce")
	if err != nil {
		return err
	}
	bin, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	var module wasm.Module
	if code := wasm.Parse(bin, &module); code != wasm.OK {
		return fmt.Errorf("%s: code %d at byte %d", in, code, module.At)
	}
	type root struct {
		Name   string `json:"name"`
		Export string `json:"export"`
		Root   bool   `json:"root"`
	}
	var roots []root
	for _, e := range module.Exports {
		if name := string(module.Name(e)); !slices.Contains(runtimeExports, name) {
			roots = append(roots, root{name, name, true})
		}
	}
	graph, err := json.Marshal(roots)
	if err != nil {
		return err
	}
	if err := os.WriteFile(out+".graph", graph, 0o644); err != nil {
		return err
	}
	// It prints what it has removed.
	_, err = output(tool, slices.Concat(wasmFeatures, []string{in, "--graph-file", out + ".graph", "-o", out})...)
	return err
}
