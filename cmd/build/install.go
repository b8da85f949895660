package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// group is a set of external tools that some command needs.
type group struct {
	name    string
	about   string
	present func() bool
	debian  []string     // installed by apt-get
	npm     func() error // or by this
}

var groups = []group{
	{name: "npm", about: "the tools that package.json pins: TypeScript, Binaryen, Node 26, Vite, sql.js",
		present: func() bool {
			return npmPresent(".") && exists("node_modules/.bin/node")
		}, npm: npmCI},
	{name: "bundlers", about: "the bundlers that the package is tested in", present: func() bool {
		return npmPresent(bundlersDir)
	}, npm: func() error { return installApart(bundlersDir) }},
	{name: "zig", about: "the compiler of the guest in Zig", present: func() bool { return npmPresent(zigDir) },
		npm: func() error { return installApart(zigDir) }},
	{name: "llvm", about: "the compiler libraries that TinyGo is built with", present: llvmPresent,
		debian: []string{"llvm-19-dev", "libclang-19-dev", "lld-19", "clang-19", "gcc", "g++"}},
	{name: "clang", about: "the compiler of the C guests", present: programs("clang-19", "wasm-ld-19"),
		debian: []string{"clang-19", "lld-19"}},
	{name: "rust", about: "the compiler of the Rust guests", present: rustPresent,
		debian: []string{"rustc", "libstd-rust-dev-wasm32", "lld-14", "clang-19", "llvm-19"}},
	{name: "browsers", about: "the browsers of the end-to-end tests",
		present: programs("chromium", "firefox-esr", "WebKitWebDriver", "Xvfb"),
		debian:  []string{"chromium", "firefox-esr", "webkit2gtk-driver", "xvfb", "fonts-dejavu-core"}},
}

func groupNames() string {
	var names []string
	for _, g := range groups {
		names = append(names, g.name)
	}
	return strings.Join(names, ", ")
}

func installCommand(flags *flag.FlagSet) func() error {
	return func() error {
		names := flags.Args()
		if len(names) == 0 {
			return fmt.Errorf("install what? groups: %s", groupNames())
		}
		return install(names...)
	}
}

var installing sync.Mutex // recipes that run at the same time need the same

// install installs the named groups that are missing. It installs Debian packages only as root, with apt-get; otherwise
// the error says what to install.
func install(names ...string) error {
	installing.Lock()
	defer installing.Unlock()
	var debian []string
	for _, name := range names {
		i := slices.IndexFunc(groups, func(g group) bool { return g.name == name })
		if i < 0 {
			return fmt.Errorf("unknown group %q; groups: %s", name, groupNames())
		}
		g := groups[i]
		switch {
		case g.present():
		case g.npm != nil:
			if err := g.npm(); err != nil {
				return fmt.Errorf("%s: %w", g.about, err)
			}
		default:
			debian = append(debian, g.debian...)
		}
	}
	if len(debian) == 0 {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return errors.New("please install, by their Debian names: " + strings.Join(debian, " "))
	}
	if err := aptGet("update", "-q"); err != nil {
		return err
	}
	return aptGet(append([]string{"install", "-q", "-y", "--no-install-recommends"}, debian...)...)
}

func aptGet(args ...string) error {
	c := exec.Command("apt-get", args...)
	c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	return run(c)
}

// programs returns a function that reports whether all the programs are on the PATH.
func programs(names ...string) func() bool {
	return func() bool {
		for _, name := range names {
			if _, err := exec.LookPath(name); err != nil {
				return false
			}
		}
		return true
	}
}

// llvmPresent looks for headers and libraries where the packages put them, because TinyGo's cgo flags name these
// folders.
func llvmPresent() bool {
	return exists("/usr/lib/llvm-19/include/llvm-c/Core.h") && exists("/usr/lib/llvm-19/include/clang-c/Index.h") &&
		programs("clang-19", "wasm-ld-19", "g++")()
}

// installedLock is a copy of the lock file that node_modules was installed from. (Comparing file times would not do,
// because a checkout changes them.)
const installedLock = "node_modules/.installed-package-lock.json"

// npmPresent reports whether what the lock file in a folder says is installed there.
func npmPresent(dir string) bool {
	installed, err := os.ReadFile(filepath.Join(dir, installedLock))
	if err != nil {
		return false
	}
	locked, err := os.ReadFile(filepath.Join(locks[dir], "package-lock.json"))
	return err == nil && bytes.Equal(installed, locked)
}

// locks has the folder of the lock file for each folder that npm installs into.
var locks = map[string]string{".": ".", bundlersDir: "e2e/testdata/bundlers", zigDir: "cmd/build/zig"}

// These are installed apart from what the build needs, which they would make four times as large.
const (
	bundlersDir = ".cache/bundlers"
	zigDir      = ".cache/zig"
)

func npmCI() error {
	// Install scripts must run: the package node fetches its binary in one.
	return npmInstall(".")
}

func installApart(dir string) error {
	for _, name := range []string{"package.json", "package-lock.json"} {
		if err := copyFile(filepath.Join(dir, name), filepath.Join(locks[dir], name)); err != nil {
			return err
		}
	}
	return npmInstall(dir, "--ignore-scripts") // what they would build is there already built
}

func npmInstall(dir string, flags ...string) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("npm is not on the PATH; install Node.js 20 or newer, which includes it")
	}
	if err := shell("npm", append([]string{"ci", "--prefix=" + dir}, flags...)...); err != nil {
		return err
	}
	return copyFile(filepath.Join(dir, installedLock), filepath.Join(locks[dir], "package-lock.json"))
}
