package guest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/internal/leaktest"
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/webserver"
)

const (
	cGuest   = "../examples/c-fetch/guest.wasm"
	watGuest = "../examples/wat-fetch/guest.wasm"
	stacks   = "testdata/stacks.wasm"
	stubborn = "testdata/stubborn.wasm"
	files    = "testdata/files.wasm"
)

// load makes an instance that is closed at the end of the test. The test fails if a goroutine is left behind.
func load(t testing.TB, path string, options Options) *Guest {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // for fibers that wait for ever
	t.Cleanup(cancel)
	return loadWith(t, ctx, path, options)
}

func loadWith(t testing.TB, ctx context.Context, path string, options Options) *Guest {
	t.Helper()
	leaktest.Goroutines(t)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	options.Name = path
	if options.Imports == nil {
		options.Imports = Page(nil)
	}
	g, err := New(ctx, binary, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func serve(t *testing.T) *webserver.Server {
	t.Helper()
	// The limit ends a test whose fibers do not wait as it expects, so that it never releases the answers.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	server, err := webserver.Start(ctx, webserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// whenInFlight calls fn, on a goroutine of its own, when that many requests wait for their answers.
func whenInFlight(t *testing.T, server *webserver.Server, requests int, fn func()) {
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		all := func(s webserver.Stats) bool { return s.InFlight == requests }
		if _, err := server.Await(t.Context(), all); err != nil {
			t.Error(err)
			return
		}
		fn()
	}()
}

// release makes the server answer the /hold of an id.
func release(t *testing.T, server *webserver.Server, id int) {
	response, err := http.Post(fmt.Sprintf("%s/release?id=%d", server.URL, id), "", nil)
	if err != nil {
		t.Error(err)
		return
	}
	response.Body.Close()
}

// call makes a call of arguments as they stand on a command line.
func call(t *testing.T, g *Guest, name, export string, words ...string) *Call {
	t.Helper()
	args, err := g.Parse(export, words)
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.Go(name, export, args...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *Call) want(t *testing.T, result string) {
	t.Helper()
	if c.State != Done || c.Err != nil || c.String() != result {
		t.Errorf("%s: %s, %q, %v; want done, %q", c.Name, c.State, c, c.Err, result)
	}
}

func TestThousandFibers(t *testing.T) {
	const fibers = 1000
	for _, path := range []string{cGuest, watGuest} {
		for _, source := range []Source{Grow, Copy} {
			t.Run(path+" "+string(source), func(t *testing.T) {
				server := serve(t)
				told := 0
				log := func(*Call, int32, int32) { told++ }
				g := load(t, path, Options{Stacks: Stacks{Source: source}, Imports: Page(log)})
				calls := make([]*Call, fibers)
				for i := range calls {
					calls[i] = call(t, g, fmt.Sprint("item#", i), "item", fmt.Sprintf("%s/hold?id=%d", server.URL, i))
				}
				whenInFlight(t, server, fibers, func() {
					for i := range fibers { // in some order that is not that of the calls
						release(t, server, i*7919%fibers)
					}
				})
				g.Run()
				for i, c := range calls {
					c.want(t, fmt.Sprint(webserver.Value(uint64(i))))
				}
				if told != 2*fibers {
					t.Errorf("env.log was called %d times, want %d", told, 2*fibers)
				}
				if live := g.Calls(); len(live) != 0 {
					t.Errorf("%d calls are left", len(live))
				}
			})
		}
	}
}

func TestS_FETCH(t *testing.T) {
	t.Run("S-FETCH", func(t *testing.T) {
		want, err := os.ReadFile("../asyncio/testdata/s-fetch.log")
		if err != nil {
			t.Fatal(err)
		}
		server := serve(t)
		var g *Guest
		order := ""
		g = load(t, cGuest, Options{Ended: func(c *Call) {
			order += " " + c.Name
			if next := map[string]int{"f1": 2, "f2": 0}; c.Name != "f0" {
				release(t, server, next[c.Name])
			}
		}})
		g.Loop.StartLog()
		for i := range 3 {
			call(t, g, fmt.Sprint("f", i), "item", fmt.Sprintf("%s/hold?id=%d", server.URL, i))
		}
		whenInFlight(t, server, 3, func() { release(t, server, 1) })
		g.Run()
		if order != " f1 f2 f0" {
			t.Errorf("the fibers ended in the order%s", order)
		}
		// On a slow machine a turn may be cut by its time budget, which changes nothing else.
		got := strings.ReplaceAll(strings.Join(g.Loop.Log(), "\n")+"\n", "paused\nentered\n", "")
		if got != string(want) {
			t.Errorf("log\n%swant\n%s", got, want)
		}
	})
}

func TestTrapEndsOneFiber(t *testing.T) {
	server := serve(t)
	var seen []*Call
	var states []string
	var g *Guest
	g = load(t, stacks, Options{Ended: func(c *Call) {
		if c.Name != "bad" {
			return
		}
		seen = g.Calls()
		for _, c := range seen {
			states = append(states, fmt.Sprint(c.Name, " ", c.State, " ", c.WaitsFor))
		}
	}})
	url := server.URL + "/item?id=3&ms=20"
	first := call(t, g, "first", "fetch_or_trap", url, "0", "1")
	bad := call(t, g, "bad", "fetch_or_trap", url, "1", "1")
	last := call(t, g, "last", "fetch_or_trap", url, "2", "1")
	g.Run()
	var trap *TrapError
	if !errors.As(bad.Err, &trap) || trap.Fiber != "bad" || trap.Export != "fetch_or_trap" ||
		!strings.Contains(trap.Error(), "unreachable") {
		t.Errorf("the fiber that traps: %v", bad.Err)
	}
	want := fmt.Sprintf("[first waiting env.fetch_text %[1]s last waiting env.fetch_text %[1]s]", url)
	if got := fmt.Sprint(states); got != want {
		t.Errorf("when it trapped the others were\n%s, want\n%s", got, want)
	}
	for _, c := range []*Call{first, last} {
		if c.State != Done {
			t.Errorf("%s: %s %v, want done", c.Name, c.State, c.Err)
		}
	}
}

// A cancelled wait is an exception in the guest, whose cleanup runs; the stack pointer is where it was.
func TestCancelUnwinds(t *testing.T) {
	server := serve(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	g := loadWith(t, ctx, stacks, Options{})
	var calls []*Call
	for i := range 5 {
		calls = append(calls, call(t, g, fmt.Sprint("clean_up#", i), "clean_up", server.URL+"/never"))
	}
	reason := errors.New("that is enough")
	whenInFlight(t, server, 5, func() { cancel(reason) })
	g.Run()
	for _, c := range calls {
		if c.State != Cancelled || c.Err != reason {
			t.Errorf("%s: %s, %v", c.Name, c.State, c.Err)
		}
	}
	if caught := g.module.ExportedGlobal("caught").Get(); caught != 5 {
		t.Errorf("the cleanup of %d fibers has run, want 5", caught)
	}
	if _, err := server.Await(t.Context(), func(s webserver.Stats) bool {
		return s.Abandoned == 5 &&
			s.InFlight == 0
	}); err != nil {
		t.Error(err)
	}
	late := call(t, g, "late", "keep", "1", "1")
	g.Run()
	if late.State != Cancelled || late.Err != reason {
		t.Errorf("a call after the end: %s, %v", late.State, late.Err)
	}
}

// A failed fetch is an exception: item lets it out, item_or catches it.
func TestFailedFetch(t *testing.T) {
	server := serve(t)
	g := load(t, watGuest, Options{})
	for _, path := range []string{"/item?id=1&fail=100", "/cut?id=1", "/nowhere"} {
		url := server.URL + path
		out := call(t, g, "out", "item", url)
		caught := call(t, g, "caught", "item_or", url, "-5")
		good := call(t, g, "good", "item", server.URL+"/item?id=17")
		g.Run()
		if out.State != Failed || !strings.Contains(out.Err.Error(),
			"fiber out failed in export item: env.fetch_text: ") || !strings.Contains(out.Err.Error(), url) {
			t.Errorf("%s: %s, %v", path, out.State, out.Err)
		}
		caught.want(t, "-5")
		good.want(t, fmt.Sprint(webserver.Value(17)))
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("a line of a file\n", 1000)
	if err := os.WriteFile(dir+"/some.txt", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	g := load(t, files, Options{Mounts: []Mount{{dir, "/"}}, Stdout: &out})
	c := call(t, g, "cat", "cat", "some.txt")
	absent := call(t, g, "cat", "cat", "absent.txt")
	above := call(t, g, "cat", "cat", "../some.txt")
	g.Run()
	c.want(t, fmt.Sprint(len(text)))
	absent.want(t, "-44") // noent
	if above.State != Done || above.String()[0] != '-' {
		t.Errorf("a path out of the directory: %s, want an error", above)
	}
	if out.String() != text {
		t.Errorf("the guest wrote %d bytes, want the file's %d", out.Len(), len(text))
	}
}

// WASI's own sleep parks the fiber: two of them overlap, and the shorter ends first though it began last.
func TestSystemSleep(t *testing.T) {
	order := ""
	g := load(t, files, Options{Ended: func(c *Call) { order += c.Name + " " }})
	long := call(t, g, "long", "sleep", "30", "5")
	short := call(t, g, "short", "sleep", "1", "3")
	g.Run()
	long.want(t, "1")
	short.want(t, "1")
	if order != "short long " {
		t.Errorf("ended: %s, want the short one first", order)
	}
}

func TestExit(t *testing.T) {
	g := load(t, files, Options{})
	sleeper := call(t, g, "sleeper", "sleep", "1000000", "1")
	exits := call(t, g, "exits", "_start")
	unstarted := call(t, g, "unstarted", "sleep", "1", "1")
	g.Run()
	later := call(t, g, "later", "sleep", "1", "1")
	g.Run()
	for _, c := range []*Call{exits, sleeper, unstarted, later} {
		var exit *ExitError
		if !errors.As(c.Err, &exit) || exit.Code != 7 || exit.Fiber != "exits" {
			t.Errorf("%s: %s, %v", c.Name, c.State, c.Err)
		}
	}
}

// A cancelled fiber that waits again and again is ended, as its waits return at once.
func TestCancelIgnored(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	g := loadWith(t, ctx, stubborn, Options{Ended: func(ended *Call) {
		if ended.Name == "other" {
			cancel(errors.New("enough"))
		}
	}})
	c := call(t, g, "stubborn", "forever")
	call(t, g, "other", "once")
	g.Run()
	trap := (*TrapError)(nil)
	if c.State != Failed || !errors.As(c.Err, &trap) || !strings.Contains(c.Err.Error(), "begun 1000 waits since") {
		t.Errorf("%s, %v", c.State, c.Err)
	}
}

func TestModules_that_cannot_be_read_say_why(t *testing.T) {
	for code := wasm.Truncated; code <= wasm.BadFlags; code++ {
		if faults[code] == "" {
			t.Errorf("no words for fault %d", code)
		}
	}
}
