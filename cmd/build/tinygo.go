package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// TinyGo comes as a Go module, which has a checksum, and is built here against Debian's LLVM 19; its releases are large
// archives from another host. 0.42.0 does not build this way: one of its dependencies is refused.
const (
	tinygoModule   = "github.com/tinygo-org/tinygo"
	tinygoVersion  = "v0.41.1"
	tinygoChecksum = "h1:Hp1Frc4zQALL88t49XraSZEwkIYEjMOmmurlmsTigzE="
)

var buildingTinygo sync.Mutex

// tinygo returns the TINYGOROOT of a TinyGo that is ready to use. If need be it builds TinyGo first, which takes about
// a minute and 1.5 GB, once.
func tinygo() (root string, err error) {
	if err := install("llvm"); err != nil {
		return "", err
	}
	buildingTinygo.Lock()
	defer buildingTinygo.Unlock()
	root, err = filepath.Abs(".cache/tinygo-" + tinygoVersion)
	if err != nil || exists(filepath.Join(root, "bin", "tinygo")) {
		return root, err
	}
	source, err := downloadTinygo()
	if err != nil {
		return "", err
	}

	// The module cache is read-only, and TinyGo must lie in its root, so it is copied. An incomplete copy never gets
	// the final name.
	fmt.Println("building TinyGo", tinygoVersion, "in", root)
	work := root + ".building"
	if err := os.RemoveAll(work); err != nil {
		return "", err
	}
	if err := os.CopyFS(work, os.DirFS(source)); err != nil {
		return "", err
	}
	// A git submodule, which the module archive lacks. TinyGo links the folder into its GOROOT, so it must exist.
	if err := os.MkdirAll(filepath.Join(work, "src", "net"), 0o755); err != nil {
		return "", err
	}
	c := exec.Command("go", "build", "-tags", "llvm19", "-o", filepath.Join("bin", "tinygo"), ".")
	c.Dir = work
	if err := run(c); err != nil {
		return "", err
	}
	return root, os.Rename(work, root)
}

// downloadTinygo makes the go command fetch the module, and returns its folder.
func downloadTinygo() (dir string, err error) {
	// In a module of its own: TinyGo is a tool, and its requirements are not fiberfill's.
	work, err := os.MkdirTemp("", "tinygo-module")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := os.WriteFile(filepath.Join(work, "go.mod"), []byte("module download\n"), 0o644); err != nil {
		return "", err
	}
	c := exec.Command("go", "mod", "download", "-json", tinygoModule+"@"+tinygoVersion)
	c.Dir = work
	c.Stderr = os.Stderr
	text, failure := c.Output()
	var module struct{ Dir, Sum, Error string }
	if err := json.Unmarshal(text, &module); err != nil {
		return "", errors.Join(failure, err)
	}
	if module.Error != "" {
		return "", fmt.Errorf("download of TinyGo: %s", module.Error)
	}
	if module.Sum != tinygoChecksum {
		return "", fmt.Errorf("TinyGo %s has the checksum %s, expected %s", tinygoVersion, module.Sum, tinygoChecksum)
	}
	return module.Dir, failure
}
