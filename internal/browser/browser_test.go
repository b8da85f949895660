package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var chromium *Browser

// openForever is a variable that makes this program open a page, named by the browser and the address, until it is
// killed.
const openForever = "OPEN_FOREVER"

func TestMain(m *testing.M) {
	if name, url, found := strings.Cut(os.Getenv(openForever), " "); found {
		_, err := reporters[name](context.Background(), url, never)
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	b, err := Start(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	chromium = b
	code := m.Run()
	b.Close()
	os.Exit(code)
}

// open opens testdata/escapes.html from a real server in a fresh tab.
func open(t *testing.T) (*Tab, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	server := httptest.NewServer(http.FileServer(http.Dir("testdata")))
	t.Cleanup(server.Close)
	tab, err := chromium.Open(ctx, server.URL+"/escapes.html")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tab.Close)
	return tab, ctx
}

func TestEvalPassesJSONBothWays(t *testing.T) {
	tab, ctx := open(t)
	type point struct{ X, Y int }
	var got struct {
		Sum  int
		Back point
	}
	err := tab.Eval(ctx, `async (a, b, p) => { await null; return { Sum: a + b, Back: p } }`, &got, 2, 3, point{4, 5})
	if err != nil || got.Sum != 5 || got.Back != (point{4, 5}) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := tab.Eval(ctx, `() => 10n`, nil); err == nil || !strings.Contains(err.Error(), "BigInt") {
		t.Errorf("a BigInt has no JSON, error = %v", err)
	}
	var n *int
	if err := tab.Eval(ctx, `() => {}`, &n); err != nil || n != nil {
		t.Errorf("undefined: %v, %v", n, err)
	}
}

func TestEvalReturnsWhatWasThrown(t *testing.T) {
	tab, ctx := open(t)
	for function, want := range map[string]string{
		`() => { throw new TypeError("mine") }`:       "TypeError: mine",
		`async () => { throw "text" }`:                "text",
		`() => Promise.reject(undefined)`:             "undefined",
		`() => escapes.deep()`:                        "escapes.js:", // the stack names the file
		`() => { console.log("seen"); no_such_name }`: "log: seen",
	} {
		if err := tab.Eval(ctx, function, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", function, err, want)
		}
	}
	if escaped, err := tab.Uncaught(ctx); err != nil || len(escaped) != 0 {
		t.Errorf("an error that Eval returned counts as uncaught: %q, %v", escaped, err)
	}
}

func TestEvalEndsWithItsContext(t *testing.T) {
	tab, ctx := open(t)
	never, cancel := context.WithCancel(ctx)
	cancel()
	if err := tab.Eval(never, `() => new Promise(() => {})`, nil); err == nil ||
		!strings.Contains(err.Error(), "context canceled") {
		t.Errorf("error = %v", err)
	}
	var n int
	if err := tab.Eval(ctx, `() => 1`, &n); err != nil || n != 1 {
		t.Errorf("the tab did not survive: %d, %v", n, err)
	}
}

func TestUncaughtFindsWhatEscapes(t *testing.T) {
	tab, ctx := open(t)
	for function, want := range map[string]string{
		`() => escapes.throwLater()`:    "thrown later",
		`() => escapes.rejectAlone()`:   "rejected alone",
		`() => escapes.rejectNothing()`: "undefined",
	} {
		if err := tab.Eval(ctx, function, nil); err != nil {
			t.Fatal(err)
		}
		escaped, err := tab.Uncaught(ctx)
		if err != nil || len(escaped) != 1 || !strings.Contains(escaped[0], want) {
			t.Errorf("%s: %q, %v, want one with %q", function, escaped, err, want)
		}
		if escaped, err := tab.Uncaught(ctx); err != nil || len(escaped) != 0 {
			t.Errorf("%s: reported twice: %q, %v", function, escaped, err)
		}
	}
	if err := tab.Eval(ctx, `() => escapes.handleLate()`, nil); err != nil {
		t.Fatal(err)
	}
	if escaped, err := tab.Uncaught(ctx); err != nil || len(escaped) != 0 {
		t.Errorf("a rejection handled late: %q, %v", escaped, err)
	}
}

func TestOpenKeepsErrorsWhileLoading(t *testing.T) {
	ctx := t.Context()
	server := httptest.NewServer(http.FileServer(http.Dir("testdata")))
	defer server.Close()
	tab, err := chromium.Open(ctx, server.URL+"/throws.html")
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	escaped, err := tab.Uncaught(ctx)
	if err != nil || len(escaped) != 1 || !strings.Contains(escaped[0], "while loading") {
		t.Errorf("%q, %v", escaped, err)
	}
	server.Close()
	if tab, err := chromium.Open(ctx, server.URL); err == nil {
		tab.Close()
		t.Error("a page that is not there was opened")
	}
}

func TestMessages(t *testing.T) {
	tab, ctx := open(t)
	if err := tab.Eval(ctx, `() => { console.log("one", 2, [3]); console.warn(new Error("four")) }`, nil); err != nil {
		t.Fatal(err)
	}
	got := tab.Messages()
	if len(got) != 2 || got[0] != "log: one 2 Array(1)" || !strings.HasPrefix(got[1], "warning: Error: four\n") {
		t.Errorf("%q", got)
	}
}

func TestTabsShareNothing(t *testing.T) {
	ctx := t.Context()
	server := httptest.NewServer(http.FileServer(http.Dir("testdata")))
	defer server.Close()
	for range 2 {
		tab, err := chromium.Open(ctx, server.URL+"/escapes.html")
		if err != nil {
			t.Fatal(err)
		}
		defer tab.Close()
		var before *string
		if err := tab.Eval(ctx,
			`() => { const old = localStorage.getItem("k"); localStorage.setItem("k", "v"); return old }`,
			&before); err != nil || before != nil {
			t.Errorf("found %v, %v", before, err)
		}
	}
}

func TestScreen(t *testing.T) {
	tab, ctx := open(t)
	for _, dark := range []bool{true, false} {
		if err := tab.Screen(ctx, 390, 844, dark); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Width, Height int
			Dark          bool
		}
		err := tab.Eval(ctx,
			`() => {
				const dark = matchMedia("(prefers-color-scheme: dark)");
				return { Width: innerWidth, Height: innerHeight, Dark: dark.matches };
			}`, &got)
		if err != nil || got.Width != 390 || got.Height != 844 || got.Dark != dark {
			t.Errorf("%+v, %v", got, err)
		}
	}
	png, err := tab.Screenshot(ctx)
	if err != nil || !strings.HasPrefix(string(png), "\x89PNG") {
		t.Errorf("screenshot of %d bytes, %v", len(png), err)
	}
}

func TestCrashIsReported(t *testing.T) {
	tab, ctx := open(t)
	go chromedp.Do(tab.ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.Crash, cdp.Empty{})
		return err // never answered
	}))
	err := tab.Eval(ctx, `() => new Promise(() => {})`, nil)
	if !errors.Is(err, ErrCrashed) {
		t.Errorf("error = %v", err)
	}
}

func TestChromiumThatIsNotThere(t *testing.T) {
	t.Setenv("CHROMIUM", filepath.Join(t.TempDir(), "chromium"))
	if b, err := Start(t.Context()); err == nil {
		b.Close()
		t.Error("started")
	} else if !strings.Contains(err.Error(), "CHROMIUM=") {
		t.Errorf("error = %v", err)
	}
	t.Setenv("CHROMIUM", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := Start(t.Context()); err == nil || !strings.Contains(err.Error(), "install Debian's package chromium") {
		t.Errorf("error = %v", err)
	}
}

// A reporter is [Firefox] or [WebKit].
type reporter func(context.Context, string, func(context.Context) ([]byte, error)) ([]byte, error)

var reporters = map[string]reporter{"Firefox": Firefox, "WebKit": WebKit}

// never is the result of a page that never tells it.
func never(ctx context.Context) ([]byte, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestReporters(t *testing.T) {
	for name, engine := range map[string]string{"Firefox": "Gecko/", "WebKit": "AppleWebKit/"} {
		t.Run(name, func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp) // so that only our own profiles are counted
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			agents := make(chan []byte, 1)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				switch r.URL.Path {
				case "/":
					fmt.Fprint(w, `<script>fetch("/agent", { method: "POST", body: navigator.userAgent })</script>`)
				case "/agent":
					agent, _ := io.ReadAll(r.Body)
					agents <- agent
				}
			}))
			defer server.Close()
			agent, err := reporters[name](ctx, server.URL, func(ctx context.Context) ([]byte, error) {
				select {
				case agent := <-agents:
					return agent, nil
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
			})
			if err != nil || !strings.Contains(string(agent), engine) {
				t.Errorf("%q, %v", agent, err)
			}
			left, err := os.ReadDir(tmp)
			if err != nil || len(left) != 0 {
				t.Errorf("left behind: %q, %v", left, err)
			}
		})
	}
}

func TestReportersThatEndEarly(t *testing.T) {
	for variable, name := range map[string]string{
		"FIREFOX": "Firefox", "WEBKITWEBDRIVER": "WebKit", "XVFB": "WebKit",
	} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, "false") // the program that fails at once
			_, err := reporters[name](t.Context(), "about:blank", never)
			if err == nil || !strings.Contains(err.Error(), "false ended before") {
				t.Errorf("error = %v", err)
			}
		})
	}
}

func TestQuietWaitsUntilNoPageIsBusy(t *testing.T) {
	tab, ctx := open(t)
	busy := `() => setTimeout(() => {
		const end = performance.now() + 700;
		while (performance.now() < end);
		globalThis.over = true;
	})`
	if err := tab.Eval(ctx, busy, nil); err != nil {
		t.Fatal(err)
	}
	if err := chromium.Quiet(ctx); err != nil {
		t.Fatal(err)
	}
	var over bool
	if err := tab.Eval(ctx, `() => globalThis.over === true`, &over); err != nil || !over {
		t.Errorf("quiet while a page computes; %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := chromium.Quiet(cancelled); err == nil {
		t.Error("quiet, although the context is cancelled")
	}
}
