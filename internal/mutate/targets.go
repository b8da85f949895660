package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// target is a package whose tests have to notice each mutant of its files.
type target struct {
	pkg   string
	files []string
	first string // the tests that notice most and take less than a second; run before all others
	skip  string // the tests that are not run: those that build programs of their own, without the edit
}

var targets = []target{
	{"./asyncio", []string{"scheduler.go", "timers.go", "arena.go", "scope.go"},
		"^Test(Scheduler|RandomOperations|Timers|Arena|All|Race|Chain)", "^TestJS"},
	{"./jsglue/stubs", []string{"stubs.go", "trampolines.go", "code.go"}, "^TestBorder", "^$"},
}

// patience is the limit for a run of tests that takes some seconds. It ends mutants that hang, which counts as noticing
// them; mutants that take more and more memory meanwhile end at 4 GB.
const patience = 30 * time.Second

// proveMutants makes the mutants and prints those that no test has noticed. It returns how many of these are not in the
// list of equivalent ones, and how many of that list were noticed.
func proveMutants(only string) (unproved int, err error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	for _, t := range targets {
		for _, file := range t.files {
			path := filepath.Join(t.pkg, file)
			if !strings.Contains(path, only) {
				continue
			}
			n, err := t.prove(dir, path)
			if err != nil {
				return 0, err
			}
			unproved += n
		}
	}
	return unproved, nil
}

func (t target) prove(dir, path string) (unproved int, err error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	all, err := mutants(path, source)
	if err != nil {
		return 0, err
	}
	noticed, same, refused := 0, 0, 0
	list := equivalentIn(path)
	for _, m := range all {
		binary, err := build(dir, t.pkg, path, m.edited)
		why := list[m.name]
		delete(list, m.name)
		switch {
		case err != nil:
			refused++ // by the compiler
		case t.notices(binary):
			if noticed++; why != "" {
				fmt.Printf("NOT EQUIVALENT %s %s\n", path, m.name)
				unproved++
			}
		case why != "":
			same++
		default:
			fmt.Printf("NOT NOTICED %s %s\n", path, m.name)
			unproved++
		}
	}
	for name := range list {
		fmt.Printf("NO MUTANT %s %s\n", path, name)
		unproved++
	}
	fmt.Printf("mutants of %s: %d noticed, %d equivalent, %d that do not compile, %d unproved\n",
		path, noticed, same, refused, unproved)
	return unproved, nil
}

// notices reports whether a test fails.
func (t target) notices(binary string) bool {
	return t.fails(binary, "-test.run", t.first) || t.fails(binary)
}

func (t target) fails(binary string, flags ...string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	args := append([]string{"-c", `ulimit -d 4000000 && exec "$0" "$@"`, binary}, flags...)
	run := exec.CommandContext(ctx, "sh", append(args, "-test.failfast", "-test.skip", t.skip)...)
	run.Dir = t.pkg
	err := run.Run()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		panic(err) // it could not be run
	}
	return err != nil
}
