package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// enterRoot changes to the root of the repository, so that every path in this tool is relative to it.
func enterRoot() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module github.com/fiberfill/fiberfill\n") {
			return os.Chdir(dir)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return errors.New("not inside the fiberfill repository: its go.mod is neither in this folder nor above it")
		}
		dir = parent
	}
}

// shell runs a program with the tool's own output and returns an error that names the whole command.
func shell(name string, args ...string) error {
	return run(exec.Command(name, args...))
}

func run(c *exec.Cmd) error {
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(c.Args, " "), err)
	}
	return nil
}

// output runs a program and returns its standard output without the last newline. Its standard error is passed on.
func output(name string, args ...string) (string, error) {
	return outputOf(exec.Command(name, args...))
}

func outputOf(c *exec.Cmd) (string, error) {
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(c.Args, " "), err)
	}
	return strings.TrimRight(string(text), "\n"), nil
}

// npmTool returns the path of a program that package.json pins, after npm ci if it is missing.
func npmTool(name string) (string, error) {
	if err := install("npm"); err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join("node_modules", ".bin", name))
}

// sources returns the files of the repository with the given suffix, without installed and built ones. It does not ask
// git, so that a copy without a history can be built and tested too.
func sources(suffix string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (path == ".git" || path == ".cache" || path == "node_modules" ||
			path == filepath.Join("web", "dist")):
			return filepath.SkipDir
		case !entry.IsDir() && strings.HasSuffix(path, suffix):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

// each calls do for every item, for so many at once, and returns all errors.
func each[T any](items []T, atOnce int, do func(T) error) error {
	errs := make([]error, len(items))
	places := make(chan struct{}, atOnce)
	var calls sync.WaitGroup
	for i, item := range items {
		places <- struct{}{}
		calls.Go(func() {
			errs[i] = do(item)
			<-places
		})
	}
	calls.Wait()
	return errors.Join(errs...)
}

// writeFile writes a generated file and the folders above it.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// replace lets write make a file or a folder under a temporary name, and then renames it to path. A test or a page that
// reads path meanwhile never finds half of it, though a folder may be absent for a moment, between two renames. A
// failed build leaves the old files; of two concurrent builds the later one wins.
func replace(path string, write func(path string) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	aside, err := os.MkdirTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside)
	made := filepath.Join(aside, filepath.Base(path))
	if err := write(made); err != nil {
		return err
	}
	for i := 0; ; i++ {
		// A rename replaces a file, but not a folder, which must be moved away first. A concurrent build may put a
		// folder there again.
		err := os.Rename(made, path)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		err = os.Rename(path, filepath.Join(aside, fmt.Sprint("old", i)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeFile(to, data)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
