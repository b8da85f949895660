//go:build !tinygo && !js

package asyncio_test

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/asyncio/internal/fulltest"
	"github.com/fiberfill/fiberfill/internal/leaktest"
)

// logOfSFETCH is the order of events that S-FETCH demands: natively, in JavaScript, and of a wasm guest.
//
//go:embed testdata/s-fetch.log
var logOfSFETCH string

// withoutBudget returns the lines of a log as one text, with turns that the time budget cut joined. On a slow machine a
// cut may happen anywhere. It shows as a pause without a notification before the next turn, and changes nothing else.
func withoutBudget(log []string) string {
	return strings.ReplaceAll(strings.Join(log, "\n")+"\n", "paused\nentered\n", "")
}

// gated serves /0, /1, and so on: /N answers {"value":N} once its gate is open. The gate of 1 opens when all requests
// have arrived; /open/N opens the gate of N.
type gated struct {
	*httptest.Server
	gates []chan struct{}
	calls atomic.Int32
}

func serveGated(t *testing.T, n int) *gated {
	g := &gated{gates: make([]chan struct{}, n)}
	for i := range g.gates {
		g.gates[i] = make(chan struct{})
	}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to, ok := strings.CutPrefix(r.URL.Path, "/open/"); ok {
			var id int
			fmt.Sscan(to, &id)
			close(g.gates[id])
			return
		}
		var id int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &id); err != nil {
			return
		}
		if int(g.calls.Add(1)) == n {
			close(g.gates[1%n]) // all requests have arrived: the first answer may go
		}
		select {
		case <-g.gates[id]:
			fmt.Fprintf(w, `{"value":%d}`, id)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(g.Close)
	return g
}

func TestS_FETCH_order(t *testing.T) {
	leaktest.Goroutines(t)
	server := serveGated(t, 3)
	l := asyncio.NewLoop(t.Context())
	l.StartLog()
	var done []string
	for i := range 3 {
		l.Go(fmt.Sprint("f", i), func(f *asyncio.Fiber) error {
			r, err := asyncio.Fetch(f, fmt.Sprint(server.URL, "/", i))
			if err != nil {
				return err
			}
			done = append(done, string(r.Body))
			if next := (i + 1) % 3; next != 1 {
				close(server.gates[next])
			}
			return nil
		})
	}
	if err := l.Run(); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(done, " "), `{"value":1} {"value":2} {"value":0}`; got != want {
		t.Errorf("fetched %s, want %s", got, want)
	}
	if got := withoutBudget(l.Log()); got != logOfSFETCH {
		t.Errorf("log\n%swant\n%s", got, logOfSFETCH)
	}
}

func TestS_FETCH_no_fibers(t *testing.T) {
	if err := asyncio.NewLoop(t.Context()).Run(); err != nil {
		t.Fatal(err)
	}
}

func TestS_FETCH_rejected_cancels_the_rest(t *testing.T) {
	leaktest.Goroutines(t)
	server := serveGated(t, 2)
	gone := httptest.NewServer(nil)
	gone.Close() // connections to it are refused from now on
	var second error
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		f.Go("good", func(f *asyncio.Fiber) error {
			_, second = asyncio.Fetch(f, server.URL+"/0")
			return second
		})
		f.Go("bad", func(f *asyncio.Fiber) error {
			_, err := asyncio.Fetch(f, gone.URL)
			return err
		})
		return f.WaitAll()
	})
	if err == nil || !strings.Contains(err.Error(), gone.URL) {
		t.Errorf("Run() = %v, want the failure to reach %s", err, gone.URL)
	}
	if !errors.Is(second, context.Canceled) {
		t.Errorf("the other fetch ended with %v, want it cancelled", second)
	}
}

func TestFetch_cancel_aborts_the_request(t *testing.T) {
	leaktest.Goroutines(t)
	arrived, left := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
		close(left)
	}))
	defer server.Close()
	cause := errors.New("no longer wanted")
	var got error
	l := asyncio.NewLoop(t.Context())
	f := l.Go("f", func(f *asyncio.Fiber) error {
		_, got = asyncio.Fetch(f, server.URL)
		return got
	})
	go func() {
		<-arrived
		f.Cancel(cause)
	}()
	if err := l.Run(); err != nil {
		t.Errorf("Run() = %v, want nil: a cancelled fiber has not failed", err)
	}
	<-left
	if got != cause {
		t.Errorf("Fetch() = %v, want the cause itself", got)
	}
}

func TestFetch_of_a_response_cut_in_its_body(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "half")
	}))
	defer server.Close()
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		_, err := asyncio.Fetch(f, server.URL)
		return err
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), server.URL) {
		t.Errorf("Fetch() = %v, want %v and the URL", err, io.ErrUnexpectedEOF)
	}
}

func TestFetch_returns_a_response_of_any_status(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		r, err := asyncio.Fetch(f, server.URL)
		if err == nil && r.Status != http.StatusNotFound {
			t.Errorf("Status = %d, want 404", r.Status)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// With more fibers than the bound, every request is answered, and never more than the bound are in flight.
func TestFetch_bounds_requests_in_flight(t *testing.T) {
	leaktest.Goroutines(t)
	const fibers, bound = 1500, 1000
	url, most := fulltest.Server(t, bound)
	answers := 0
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		for i := range fibers {
			f.Go(fmt.Sprint("f", i), func(f *asyncio.Fiber) error {
				_, err := asyncio.Fetch(f, url)
				answers++
				return err
			})
		}
		return f.WaitAll()
	})
	if err != nil || answers != fibers {
		t.Errorf("%d answers, %v; want %d", answers, err, fibers)
	}
	if most() > bound {
		t.Errorf("%d requests in flight, want at most %d", most(), bound)
	}
}

// A fetch whose derived context is done is aborted, and returns its cause.
func TestDerived_contexts_abort_a_fetch(t *testing.T) {
	leaktest.Goroutines(t)
	left := make(chan struct{})
	reason := errors.New("no longer wanted")
	var cancel context.CancelCauseFunc
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cancel(reason)
		<-r.Context().Done()
		close(left)
	}))
	defer server.Close()
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		var ctx context.Context
		ctx, cancel = context.WithCancelCause(f)
		if _, err := asyncio.Fetch(ctx, server.URL); err != reason {
			t.Errorf("Fetch() = %v, want the cause itself", err)
		}
		return f.Yield()
	})
	<-left
	if err != nil {
		t.Error(err)
	}
}
