package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/internal/leaktest"
)

// gate is a database that answers when it is told to.
type gate struct {
	arrived chan string
	open    chan struct{}
	left    chan error
}

func newGate() gate {
	return gate{make(chan string, 2000), make(chan struct{}), make(chan error, 2000)}
}

func (g gate) Price(ctx context.Context, item string) (int32, error) {
	g.arrived <- item
	select {
	case <-g.open:
		var price int32
		_, err := fmt.Sscanf(item, "item%d", &price)
		return price, err
	case <-ctx.Done():
		g.left <- context.Cause(ctx)
		return 0, context.Cause(ctx)
	}
}

// start serves a database and returns the address. The server ends with the test, and leaves nothing behind.
func start(t *testing.T, db database) string {
	leaktest.Goroutines(t)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- serve(ctx, listener, db) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

func get(ctx context.Context, url string) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// What the README shows.
func TestTotal(t *testing.T) {
	url := start(t, prices{"tea": 320, "scones": 450})
	for query, want := range map[string]string{
		"tea,scones": "200 7.70\n", "tea": "200 3.20\n", "": "200 0.00\n",
		"tea,crumpets": "404 there is no \"crumpets\"\n",
	} {
		status, body, err := get(t.Context(), url+"/total?items="+query)
		if got := fmt.Sprintf("%d %s", status, body); err != nil || got != want {
			t.Errorf("%s: %d %q, %v; want %q", query, status, body, err, want)
		}
	}
}

// All requests are in the middle of the guest at once, and each gets its own answer.
func TestLoad(t *testing.T) {
	const requests = 500
	db := newGate()
	url := start(t, db)
	var clients sync.WaitGroup
	for i := range requests {
		clients.Go(func() {
			_, body, err := get(t.Context(), fmt.Sprintf("%s/total?items=item%d,item%d", url, i, i))
			if want := fmt.Sprintf("%d.%02d\n", 2*i/100, 2*i%100); err != nil || body != want {
				t.Errorf("request %d: %q, %v; want %q", i, body, err, want)
			}
		})
	}
	for range requests {
		<-db.arrived
	}
	close(db.open)
	clients.Wait()
}

// A client that goes away ends its query, and nobody else's.
func TestClientGoesAway(t *testing.T) {
	db := newGate()
	url := start(t, db)
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, _, err := get(ctx, url+"/total?items=item1")
		gone <- err
	}()
	<-db.arrived
	stays := make(chan string, 1)
	go func() {
		_, body, _ := get(t.Context(), url+"/total?items=item2")
		stays <- body
	}()
	<-db.arrived
	leave()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-db.left; !errors.Is(err, context.Canceled) {
		t.Errorf("the query ended with %v", err)
	}
	close(db.open)
	if body := <-stays; body != "0.02\n" {
		t.Errorf("the other client got %q", body)
	}
}

// Requests that are under way when the server ends get their answers, and those that take too long are told.
func TestEnd(t *testing.T) {
	const requests = 200
	defer func(was time.Duration) { grace = was }(grace)
	for _, quick := range []bool{true, false} {
		grace = time.Minute // which nobody waits for
		if !quick {
			grace = time.Millisecond
		}
		leaktest.Goroutines(t)
		t.Cleanup(http.DefaultClient.CloseIdleConnections)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		db := newGate()
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- serve(ctx, listener, db) }()
		var clients sync.WaitGroup
		for range requests {
			clients.Go(func() {
				status, body, err := get(t.Context(), "http://"+listener.Addr().String()+"/total?items=item5")
				got, want := fmt.Sprint(status, " ", body), "200 0.05\n"
				if !quick {
					want = "503 the server is closing\n"
				}
				if err != nil || got != want {
					t.Errorf("%q, %v, want %q", got, err, want)
				}
			})
		}
		for range requests {
			<-db.arrived
		}
		stop()
		if quick {
			close(db.open)
		}
		clients.Wait()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

// A server whose listener fails ends, and says why.
func TestListenerFails(t *testing.T) {
	leaktest.Goroutines(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if err := serve(t.Context(), listener, prices{}); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}
