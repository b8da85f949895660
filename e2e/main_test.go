// Package e2e_test runs what fiberfill ships, the built files of web/dist and the guests of examples, in real browsers
// against a real server.
//
// A test opens a page of testdata/pages in a fresh tab and calls functions that the page's script has put into a global:
//
//	tab := open(t, "smoke.html")
//	tab.Eval(t, `() => smoke.fetch("c-fetch", 100)`, &values)
//
// It fails by itself for every error and every rejection that escapes in the page. More than a line or two of JavaScript
// belongs into a file beside the page.
package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/fiberfill/fiberfill/e2e/browser"
)

// chromium is the one browser of this run; each test has a tab of its own in it.
var chromium *browser.Browser

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

// run is TestMain with defers: the browser is gone when it returns, also when a test has failed.
func run(m *testing.M) (int, error) {
	if _, err := os.Stat("../web/dist/fiberfill.js"); err != nil {
		build := exec.Command("go", "run", "./cmd/build", "bundle")
		build.Dir = ".."
		if out, err := build.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("web/dist is not built, and %v fails: %w\n%s", build.Args, err, out)
		}
	}
	b, err := browser.Start(context.Background())
	if err != nil {
		return 0, err
	}
	defer b.Close()
	chromium = b
	return m.Run(), nil
}
