package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/internal/browser"
	"github.com/fiberfill/fiberfill/internal/webserver"
)

// patience is how long one step of a test may take. It only ends what hangs; nothing is measured with it.
const patience = 90 * time.Second

// tab is a page in Chromium, and the server that it came from.
type tab struct {
	*browser.Tab
	server *webserver.Server
}

// policy serves a page under the content security policy that fiberfill promises to work with.
func policy(o *webserver.Options) {
	o.ContentSecurityPolicy = "script-src 'self' 'wasm-unsafe-eval'"
}

// isolated serves a page cross-origin isolated, where performance.now is fine enough to measure with.
func isolated(o *webserver.Options) { o.CrossOriginIsolated = true }

// bench serves the benchmark's guest.
func bench(o *webserver.Options) { o.Files["/bench/"] = os.DirFS("../bench/js") }

// serve starts a server of its own for a test, so that the test's traffic and its origin are its own: the pages at /,
// the built files at /dist/, the guests at /examples/.
func serve(t *testing.T, options ...func(*webserver.Options)) *webserver.Server {
	t.Helper()
	o := webserver.Options{Files: map[string]fs.FS{
		"/":          os.DirFS("testdata/pages"),
		"/dist/":     os.DirFS("../web/dist"),
		"/examples/": os.DirFS("../examples"),
	}}
	for _, option := range options {
		option(&o)
	}
	ctx, stop := context.WithCancel(context.Background())
	server, err := webserver.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := server.Wait(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// open opens a page in a fresh tab. When the test ends it fails if an error or a rejection has escaped in the page, and
// if it failed, for whatever reason, the console is logged and the screen is kept (go test -artifacts says where).
func open(t *testing.T, page string, options ...func(*webserver.Options)) *tab {
	t.Helper()
	server := serve(t, options...)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	opened, err := chromium.Open(ctx, server.URL+"/"+page)
	if err != nil {
		t.Fatal(err)
	}
	tab := &tab{opened, server}
	t.Cleanup(func() {
		defer tab.Close()
		for _, text := range tab.Escaped(t) {
			t.Errorf("escaped in the page: %s", text)
		}
		if t.Failed() {
			tab.keep(t)
		}
	})
	return tab
}

// Eval calls a JavaScript function in the page with args, and decodes what it returns, or what its Promise resolves to,
// into result, both ways as JSON. If the function throws or rejects, the test fails at once.
func (tab *tab) Eval(t *testing.T, function string, result any, args ...any) {
	t.Helper()
	ctx, cancel := limit(t)
	defer cancel()
	if err := tab.Tab.Eval(ctx, function, result, args...); err != nil {
		t.Fatal(err)
	}
}

// Escaped returns the uncaught errors and unhandled rejections of the page so far, and forgets them. A test that
// expects some calls it; all others leave it to the end.
func (tab *tab) Escaped(t *testing.T) []string {
	t.Helper()
	ctx, cancel := limit(t)
	defer cancel()
	texts, err := tab.Uncaught(ctx)
	if err != nil {
		t.Error(err)
	}
	return texts
}

// Traffic waits until the server's counts are such that enough is true for them, and returns them.
func (tab *tab) Traffic(t *testing.T, enough func(webserver.Stats) bool) webserver.Stats {
	t.Helper()
	ctx, cancel := limit(t)
	defer cancel()
	now, err := tab.server.Await(ctx, enough)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// keep logs the console of a test that failed, and keeps its screen.
func (tab *tab) keep(t *testing.T) {
	for _, line := range tab.Messages() {
		t.Log("console:", line)
	}
	ctx, cancel := limit(t)
	defer cancel()
	png, err := tab.Screenshot(ctx)
	if err == nil {
		err = os.WriteFile(filepath.Join(t.ArtifactDir(), "screen.png"), png, 0o644)
	}
	if err != nil {
		t.Log("no screenshot:", err)
	}
}

// limit is a context for one step. It does not descend from t.Context, which has ended when cleanups run.
func limit(t *testing.T) (context.Context, context.CancelFunc) {
	deadline := time.Now().Add(patience)
	// Leave the time to clean up before go test ends the process with everything in it.
	if last, ok := t.Deadline(); ok && last.Add(-10*time.Second).Before(deadline) {
		deadline = last.Add(-10 * time.Second)
	}
	return context.WithDeadline(context.Background(), deadline)
}

// inFirefox opens a page in a Firefox of its own, has it call the function of that name ("smoke.run") without
// arguments, and decodes what the function returns into result. If the function throws or rejects, or anything escapes
// in the page until it has returned, the test fails at once. The page has to load report.js, which does the calling.
func inFirefox(t *testing.T, page, function string, result any, options ...func(*webserver.Options)) {
	t.Helper()
	if err := callInFirefox(t, page, function, result, options...); err != nil {
		t.Fatalf("%s of %s in Firefox: %v", function, page, err)
	}
}

func callInFirefox(t *testing.T, page, function string, result any, options ...func(*webserver.Options)) error {
	t.Helper()
	server := serve(t, options...)
	ctx, cancel := limit(t)
	defer cancel()
	body, err := browser.Firefox(ctx, server.URL+"/"+page+"?report="+url.QueryEscape(function), server.Report)
	if err != nil {
		return err
	}
	var report struct {
		Value json.RawMessage
		Error *string
	}
	if err := json.Unmarshal(body, &report); err != nil {
		return err
	}
	if report.Error != nil {
		return errors.New(*report.Error)
	}
	return json.Unmarshal(report.Value, result)
}
