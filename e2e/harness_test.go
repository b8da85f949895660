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
	"github.com/fiberfill/fiberfill/internal/engines"
	"github.com/fiberfill/fiberfill/internal/webserver"
)

// patience is how long one step of a test may take. It only ends a test that hangs; it measures nothing.
const patience = 4 * time.Minute

// tab is a page in Chromium with the server that it came from.
type tab struct {
	*browser.Tab
	server *webserver.Server
}

// policy serves a page under the content security policy that fiberfill promises to work with.
func policy(o *webserver.Options) {
	o.ContentSecurityPolicy = "script-src 'self' 'wasm-unsafe-eval'"
}

// isolated serves a page cross-origin isolated, so that performance.now is fine enough for measurements.
func isolated(o *webserver.Options) { o.CrossOriginIsolated = true }

// bench serves the benchmark's guest.
func bench(o *webserver.Options) { o.Files["/bench/"] = os.DirFS("../bench/js") }

// serve starts a server for one test, so that the test's traffic and origin are its own. The server has the pages at /,
// the built files at /dist/ and the guests at /examples/.
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

// open opens a page in a fresh tab. At its end the test fails if an error or a rejection has escaped in the page. If
// the test fails, for any reason, the console is logged and a screenshot is kept (go test -artifacts says where).
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

// Eval calls a JavaScript function in the page with args, awaits its result, and decodes it into result. Both
// directions use JSON. If the function throws or rejects, the test fails at once.
func (tab *tab) Eval(t *testing.T, function string, result any, args ...any) {
	t.Helper()
	ctx, cancel := limit(t)
	defer cancel()
	if err := tab.Tab.Eval(ctx, function, result, args...); err != nil {
		t.Fatal(err)
	}
}

// Escaped returns the uncaught errors and unhandled rejections of the page so far, each only once. Only a test that
// expects some calls it; otherwise the end of the test does.
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

// Traffic waits until enough returns true for the server's counts, and returns those counts.
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

// keep logs the console of a failed test, and keeps a screenshot.
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

// limit returns a context for one step. It does not descend from t.Context, which has ended when cleanups run.
func limit(t *testing.T) (context.Context, context.CancelFunc) {
	deadline := time.Now().Add(patience)
	// Leave time to clean up before go test ends the process.
	if last, ok := t.Deadline(); ok && last.Add(-10*time.Second).Before(deadline) {
		deadline = last.Add(-10 * time.Second)
	}
	return context.WithDeadline(context.Background(), deadline)
}

// others are the browsers beside Chromium. They have no debugger attached.
var others = []engines.Engine{engines.Firefox, engines.WebKit}

// inOthers opens a page in each of the others and checks the result of the named function ("smoke.run"), which is
// called without arguments. The test fails if the function throws or rejects, or if anything escapes in the page before
// it has returned. The page must load report.js, which makes the call.
func inOthers[R any](t *testing.T, page, function string, check func(*testing.T, R),
	options ...func(*webserver.Options)) {
	for _, engine := range others {
		t.Run(string(engine), func(t *testing.T) {
			check(t, in[R](t, engine, page, function, options...))
		})
	}
}

// returns is the check for a function that throws if something is wrong.
func returns(*testing.T, any) {}

// in is inOthers for one of them.
func in[R any](t *testing.T, engine engines.Engine, page, function string,
	options ...func(*webserver.Options)) (got R) {
	t.Helper()
	if err := callIn(t, engine, page, function, &got, options...); err != nil {
		t.Fatalf("%s of %s in %s: %v", function, page, engine, err)
	}
	return got
}

func callIn(t *testing.T, engine engines.Engine, page, function string, result any,
	options ...func(*webserver.Options)) error {
	t.Helper()
	open := browser.Firefox
	if engine == engines.WebKit {
		open = browser.WebKit
	}
	server := serve(t, options...)
	ctx, cancel := limit(t)
	defer cancel()
	body, err := open(ctx, server.URL+"/"+page+"?report="+url.QueryEscape(function), server.Report)
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
