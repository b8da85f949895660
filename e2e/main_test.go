// Package e2e_test runs the files that fiberfill ships, the built files of web/dist and the guests of examples, in real
// browsers against a real server.
//
// A test opens a page of testdata/pages in a fresh tab and calls functions that the page's script defines in a global:
//
//	tab := open(t, "smoke.html")
//	tab.Eval(t, `() => smoke.fetch("c-fetch", 100)`, &values)
//
// The test fails for every error and every rejection that escapes in the page. More than a line or two of JavaScript
// belongs into a file beside the page.
//
// Tests to which time matters run one by one. Those that take long and to which it does not are parallel: they run when
// the others are over.
package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/internal/browser"
)

// chromium is the only browser of this run; each test has a tab of its own in it.
var chromium *browser.Browser

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

// run is TestMain with defers: when it returns the browser has exited, even if a test failed.
func run(m *testing.M) (int, error) {
	if err := rebuild(); err != nil {
		return 0, err
	}
	b, err := browser.Start(context.Background())
	if err != nil {
		return 0, err
	}
	defer b.Close()
	chromium = b
	return m.Run(), nil
}

// The build reads these files and folders, and writes a file into each part of web/dist.
var (
	buildReads = []string{
		"go.mod", "package-lock.json", "cmd/build", "asyncio", "polyfill",
		"examples/c-fetch", "examples/wat-fetch", "examples/go-fetch", "web", "include",
		"jsglue/src", "jsglue/worker.wasm", "jsglue/fiber.wasm", "jsglue/core/core.wasm",
		"jsglue/proposals/proposals.wasm", "jsglue/actors", "jsglue/lower",
	}
	buildWrites = []string{"web/dist/fiberfill.js", "web/dist/fiberfill-proposals.js", "web/dist/fiberfill-actors.js",
		"web/dist/fiberfill-report.js", "web/dist/fiberfill-unwind.js", "web/dist/npm/package.json",
		"web/dist/demo/index.html"}
)

// rebuild builds web/dist if a source is newer, so that no test runs a stale script. The oldest part counts: a build
// may have made only the script, or may have failed on the way.
func rebuild() error {
	source, changed, err := newest(buildReads)
	if err != nil {
		return err
	}
	for _, part := range buildWrites {
		info, err := os.Stat(filepath.Join("..", part))
		switch {
		case err == nil && info.ModTime().After(changed):
			continue
		case err == nil:
			fmt.Printf("e2e: %s is older than %s: building\n", part, source)
		case errors.Is(err, fs.ErrNotExist):
			fmt.Printf("e2e: %s is missing: building\n", part)
		default:
			return err
		}
		build := exec.Command("go", "run", "./cmd/build", "demo")
		build.Dir = ".."
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", build.Args, err, out)
		}
		return nil
	}
	return nil
}

// newest returns which file in or below paths changed last, and when. Tests do not count.
func newest(paths []string) (file string, changed time.Time, err error) {
	for _, root := range paths {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() {
				if path == filepath.Join("..", "web", "dist") || entry.Name() == "testdata" {
					return fs.SkipDir
				}
				return nil
			}
			if strings.Contains(entry.Name(), "_test.") {
				return nil
			}
			info, err := entry.Info()
			if err == nil && info.ModTime().After(changed) {
				file, changed = path, info.ModTime()
			}
			return err
		})
		if err != nil {
			return "", time.Time{}, err
		}
	}
	return file, changed, nil
}
