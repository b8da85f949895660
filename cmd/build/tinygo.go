package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// TinyGo comes as a Go module and is built here against Debian's LLVM 19, because its releases are large archives from
// elsewhere and the module comes with a checksum. 0.42.0 does not build this way: one of its dependencies is refused.
const (
	tinygoModule   = "github.com/tinygo-org/tinygo"
	tinygoVersion  = "v0.41.1"
	tinygoChecksum = "h1:Hp1Frc4zQALL88t49XraSZEwkIYEjMOmmurlmsTigzE="
)

// tinygo returns the folder of a TinyGo that is ready to use (its TINYGOROOT), after building it if need be: about a
// minute, 1.5 GB, once.
func tinygo() (root string, err error) {
	if err := install("llvm"); err != nil {
		return "", err
	}
	root, err = filepath.Abs(".cache/tinygo-" + tinygoVersion)
	if err != nil || exists(filepath.Join(root, "bin", "tinygo")) {
		return root, err
	}
	source, err := downloadTinygo()
	if err != nil {
		return "", err
	}

	// The module cache is read-only and TinyGo wants to be in its root, so it is copied; half a copy never gets the
	// name.
	fmt.Println("building TinyGo", tinygoVersion, "in", root)
	work := root + ".building"
	if err := os.RemoveAll(work); err != nil {
		return "", err
	}
	if err := os.CopyFS(work, os.DirFS(source)); err != nil {
		return "", err
	}
	// A submodule that no module archive contains. TinyGo links the folder into the GOROOT it presents, so it has to
	// exist.
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

// downloadTinygo has the go command fetch the module and returns the folder where it lies.
func downloadTinygo() (dir string, err error) {
	// In a module of its own: TinyGo is a tool, its requirements are not those of fiberfill.
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
