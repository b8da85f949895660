package webserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

// start runs a server for one test and checks that it ends. The context it returns bounds every wait of the test.
func start(t *testing.T, opt Options) (*Server, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	s, err := Start(ctx, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := s.Wait(); err != nil {
			t.Error(err)
		}
	})
	return s, ctx
}

// get makes one request on a connection of its own.
func get(ctx context.Context, url string) (*http.Response, []byte, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return nil, nil, err
	}
	resp, err := client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

func TestItem(t *testing.T) {
	s, ctx := start(t, Options{})
	resp, body, err := get(ctx, s.URL+"/item?id=17")
	if err != nil {
		t.Fatal(err)
	}
	// 17*2654435761 + 12345 = 45125420282 = 45125*1000003 + 284907
	if want := `{"id":17,"value":284907,"title":"Item 17"}` + "\n"; string(body) != want {
		t.Errorf("body = %s, want %s", body, want)
	}
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("type = %q", got)
	}
}

func TestItemRefusesBadQueries(t *testing.T) {
	s, ctx := start(t, Options{})
	for query, want := range map[string]string{
		"":                          "the id is missing",
		"?id=-1":                    "id=-1 is not a whole number",
		"?id=1&ms=soon":             "ms=soon is not a whole number",
		"?id=1&fail=101":            "more than 100 percent",
		"?id=1&ms=9999999999999999": "is more than 10m0s",
	} {
		resp, body, err := get(ctx, s.URL+"/item"+query)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), want) {
			t.Errorf("%q: %d %s, want 400 %s", query, resp.StatusCode, body, want)
		}
	}
	if n := s.Stats().Requests; n != 0 {
		t.Errorf("%d refused requests were counted", n)
	}
}

func TestLatencyIsSeededAndUniform(t *testing.T) {
	const mean, n = 20 * time.Millisecond, 10000
	var sum time.Duration
	low, high := mean, mean
	same := 0
	for id := range uint64(n) {
		d := Latency(7, id, mean)
		if d != Latency(7, id, mean) {
			t.Fatalf("id %d: two latencies for one request", id)
		}
		if d == Latency(8, id, mean) {
			same++
		}
		sum, low, high = sum+d, min(low, d), max(high, d)
	}
	if low < mean/2 || low > mean*51/100 || high > mean*3/2 || high < mean*149/100 {
		t.Errorf("latencies from %v to %v, want from %v to %v", low, high, mean/2, mean*3/2)
	}
	if average := sum / n; average < mean*98/100 || average > mean*102/100 {
		t.Errorf("mean %v, want %v", average, mean)
	}
	if same > n/1000 {
		t.Errorf("%d of %d latencies do not depend on the seed", same, n)
	}
	if d := Latency(7, 1, 0); d != 0 {
		t.Errorf("mean 0 gives %v", d)
	}
}

func TestItemWaitsItsLatency(t *testing.T) {
	s, ctx := start(t, Options{})
	begin := time.Now()
	if _, _, err := get(ctx, s.URL+"/item?id=5&ms=40&seed=3"); err != nil {
		t.Fatal(err)
	}
	if took, want := time.Since(begin), Latency(3, 5, 40*time.Millisecond); took < want {
		t.Errorf("took %v, want at least %v", took, want)
	}
}

func TestFailures(t *testing.T) {
	s, ctx := start(t, Options{})
	failed := 0
	for id := range uint64(1000) {
		if Fails(1, id, 30) {
			failed++
			if !Fails(1, id, 60) {
				t.Errorf("id %d fails at 30 percent and not at 60", id)
			}
		}
		if Fails(1, id, 0) || !Fails(1, id, 100) {
			t.Errorf("id %d: 0 percent or 100 percent is not exact", id)
		}
	}
	if failed < 250 || failed > 350 {
		t.Errorf("%d of 1000 failed, want about 300", failed)
	}
	for id := range uint64(20) {
		resp, _, err := get(ctx, fmt.Sprintf("%s/item?id=%d&fail=30&seed=1", s.URL, id))
		if err != nil {
			t.Fatal(err)
		}
		want := http.StatusOK
		if Fails(1, id, 30) {
			want = http.StatusInternalServerError
		}
		if resp.StatusCode != want {
			t.Errorf("id %d: status %d, want %d", id, resp.StatusCode, want)
		}
	}
}

func TestCutEndsInMidBody(t *testing.T) {
	s, ctx := start(t, Options{})
	resp, body, err := get(ctx, s.URL+"/cut?id=17")
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("error = %v, want an unexpected end", err)
	}
	whole := query{id: 17}.body()
	if resp.StatusCode != http.StatusOK || len(body) == 0 || len(body) >= len(whole) ||
		!strings.HasPrefix(whole, string(body)) {
		t.Errorf("%d %q, want 200 and a part of %q", resp.StatusCode, body, whole)
	}
}

func TestNeverEndsWhenTheClientGoes(t *testing.T) {
	s, ctx := start(t, Options{})
	client, leave := context.WithCancel(ctx)
	result := make(chan error, 1)
	go func() {
		_, _, err := get(client, s.URL+"/never")
		result <- err
	}()
	if _, err := s.Await(ctx, func(now Stats) bool { return now.InFlight == 1 }); err != nil {
		t.Fatal(err)
	}
	leave()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("client got %v", err)
	}
	now, err := s.Await(ctx, func(now Stats) bool { return now.InFlight == 0 })
	if err != nil {
		t.Fatal(err)
	}
	if want := (Stats{Requests: 1, MostInFlight: 1, Abandoned: 1}); now != want {
		t.Errorf("stats %+v, want %+v", now, want)
	}
}

func TestNeverEndsWithTheServer(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	s, err := Start(ctx, Options{})
	if err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		_, _, err := get(t.Context(), s.URL+"/never")
		result <- err
	}()
	if _, err := s.Await(t.Context(), func(now Stats) bool { return now.InFlight == 1 }); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	if err := <-result; err == nil {
		t.Error("/never answered")
	}
	if _, err := s.Report(t.Context()); err == nil {
		t.Error("a report from a server that has ended")
	}
}

func TestStatsCountRequestsInFlight(t *testing.T) {
	s, ctx := start(t, Options{})
	const n = 8
	client, leave := context.WithCancel(ctx)
	var clients sync.WaitGroup
	for range n {
		clients.Go(func() { get(client, s.URL+"/never") })
	}
	if _, err := s.Await(ctx, func(now Stats) bool { return now.InFlight == n }); err != nil {
		t.Fatal(err)
	}
	leave()
	clients.Wait()
	if _, err := s.Await(ctx, func(now Stats) bool { return now.InFlight == 0 }); err != nil {
		t.Fatal(err)
	}
	_, body, err := get(ctx, s.URL+"/stats")
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"requests":8,"inFlight":0,"mostInFlight":8,"abandoned":8}` + "\n"; string(body) != want {
		t.Errorf("/stats = %s, want %s", body, want)
	}
}

func TestReport(t *testing.T) {
	s, ctx := start(t, Options{})
	posted := make(chan error, 1)
	go func() {
		resp, err := http.Post(s.URL+"/report", "application/json", strings.NewReader(`{"ok":true}`))
		if err == nil {
			err = resp.Body.Close()
		}
		posted <- err
	}()
	body, err := s.Report(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(body, []byte(`{"ok":true}`)) || !json.Valid(body) {
		t.Errorf("report = %s", body)
	}
	if err := <-posted; err != nil {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Report(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want the context's", err)
	}
}

func TestFilesHaveTheirTypes(t *testing.T) {
	names := []string{"guest.wasm", "page.html", "entry.js", "entry.mjs", "look.css", "data.json"}
	tree := fstest.MapFS{}
	for _, name := range names {
		tree[name] = &fstest.MapFile{Data: []byte("x")}
	}
	s, ctx := start(t, Options{Files: map[string]fs.FS{"/": tree,
		"/more/": fstest.MapFS{"deep/a.js": {Data: []byte("y")}}}})
	for path, want := range map[string]string{
		"/guest.wasm":     "application/wasm",
		"/page.html":      "text/html; charset=utf-8",
		"/entry.js":       "text/javascript; charset=utf-8",
		"/entry.mjs":      "text/javascript; charset=utf-8",
		"/look.css":       "text/css; charset=utf-8",
		"/data.json":      "application/json",
		"/more/deep/a.js": "text/javascript; charset=utf-8",
	} {
		resp, body, err := get(ctx, s.URL+path)
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != want || len(body) != 1 {
			t.Errorf("%s: %d %q, want 200 %q", path, resp.StatusCode, got, want)
		}
		for _, name := range []string{
			"Content-Security-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Embedder-Policy",
		} {
			if got := resp.Header.Get(name); got != "" {
				t.Errorf("%s: %s: %s, without the option for it", path, name, got)
			}
		}
	}
	if resp, _, err := get(ctx, s.URL+"/absent.js"); err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("a missing file: %v, %v", resp, err)
	}
	if _, err := Start(ctx, Options{Files: map[string]fs.FS{"dist": tree}}); err == nil {
		t.Error("a prefix without slashes was accepted")
	}
}

func TestFilesHeadersOnRequest(t *testing.T) {
	const policy = "script-src 'self' 'wasm-unsafe-eval'"
	s, ctx := start(t, Options{
		Files:                 map[string]fs.FS{"/": fstest.MapFS{"a.html": {}}},
		ContentSecurityPolicy: policy,
		CrossOriginIsolated:   true,
	})
	resp, _, err := get(ctx, s.URL+"/a.html")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Content-Security-Policy":      policy,
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Embedder-Policy": "require-corp",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestHeldItemsAreAnsweredInTheOrderOfTheirRelease(t *testing.T) {
	s, ctx := start(t, Options{})
	release := func(id int) {
		resp, err := http.Post(fmt.Sprintf("%s/release?id=%d", s.URL, id), "", nil)
		if err != nil || resp.StatusCode != http.StatusNoContent {
			t.Fatal(resp, err)
		}
	}
	release(3) // before it is asked for, and again
	release(3)
	answers := make(chan string)
	for id := range 4 {
		go func() {
			_, body, err := get(ctx, fmt.Sprintf("%s/hold?id=%d", s.URL, id))
			answers <- fmt.Sprint(string(body), err)
		}()
	}
	expect := func(id uint64) {
		if got, want := <-answers, fmt.Sprint(query{id: id}.body(), nil); got != want {
			t.Errorf("answer %s, want %s", got, want)
		}
	}
	expect(3)
	if _, err := s.Await(ctx, func(now Stats) bool { return now.InFlight == 3 }); err != nil {
		t.Fatal(err)
	}
	for _, id := range []int{1, 2, 0} {
		release(id)
		expect(uint64(id))
	}
}
