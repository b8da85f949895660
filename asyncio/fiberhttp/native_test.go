//go:build !js

package fiberhttp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/asyncio/fiberhttp"
	"github.com/fiberfill/fiberfill/asyncio/internal/fulltest"
	"github.com/fiberfill/fiberfill/internal/leaktest"
)

// Post JSON with a header of one's own, and read the answer as it comes.
func ExampleTransport() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s of %s", r.Method, r.Header.Get("Content-Type"))
	}))
	defer server.Close()
	client := &http.Client{Transport: &fiberhttp.Transport{}}
	err := asyncio.Run(context.Background(), func(f *asyncio.Fiber) error {
		req, err := http.NewRequestWithContext(f, http.MethodPost, server.URL, strings.NewReader(`{"tea":2}`))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req) // waits; other fibers go on
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = os.Stdout.ReadFrom(resp.Body)
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: POST of application/json
}

// One bound holds for all requests of a loop, whatever makes them. No goroutine stays behind.
func TestRequests_in_flight_are_bounded(t *testing.T) {
	leaktest.Goroutines(t)
	const fibers, bound = 1200, 1000
	url, most := fulltest.Server(t, bound)
	c := client(t)
	run(t, func(f *asyncio.Fiber) error {
		for i := range fibers {
			f.Go(fmt.Sprint("f", i), func(f *asyncio.Fiber) error {
				if i%2 == 0 {
					_, err := asyncio.Fetch(f, url)
					return err
				}
				_, _, err := do(f, c, http.MethodGet, url, nil)
				return err
			})
		}
		return f.WaitAll()
	})
	if most() > bound {
		t.Errorf("%d requests in flight, want at most %d", most(), bound)
	}
}

func TestA_connection_that_switches_protocols_is_refused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "upgrade")
		w.Header().Set("Upgrade", "any")
		w.WriteHeader(http.StatusSwitchingProtocols)
	}))
	defer server.Close()
	c := client(t)
	run(t, func(f *asyncio.Fiber) error {
		req, _ := http.NewRequestWithContext(f, http.MethodGet, server.URL, nil)
		req.Header.Set("Connection", "upgrade")
		req.Header.Set("Upgrade", "any")
		if _, err := c.Do(req); err == nil || !strings.Contains(err.Error(), "status 101") {
			t.Errorf("Do() = %v, want a refusal", err)
		}
		return nil
	})
}

// An answer that is no success comes although the server reads no more of the request's body; so does its own body.
func TestAn_answer_before_the_end_of_the_body(t *testing.T) {
	leaktest.Goroutines(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	const body = 1 << 16
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			request, err := http.ReadRequest(bufio.NewReader(c))
			if err == nil {
				fmt.Fprintf(c, "HTTP/1.1 401 No\r\nContent-Length: %d\r\n\r\n%s", body, strings.Repeat("n", body))
				request.Body.Close()
			}
		}
	}()
	c := client(t)
	run(t, func(f *asyncio.Fiber) error {
		resp, text, err := do(f, c, http.MethodPost, "http://"+listener.Addr().String(), endless{})
		if err != nil || resp.StatusCode != http.StatusUnauthorized || len(text) != body {
			t.Errorf("%v, %d bytes, %v", resp, len(text), err)
		}
		return nil
	})
	c.CloseIdleConnections()
}

// A Base that neither reads nor closes the body of a request does not keep the fiber.
func TestA_base_that_leaves_the_body_alone(t *testing.T) {
	leaktest.Goroutines(t)
	failure := errors.New("no")
	for _, answer := range []roundTripper{
		func(r *http.Request) (*http.Response, error) { return nil, failure },
		func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("yes")), Request: r}, nil
		},
	} {
		c := &http.Client{Transport: &fiberhttp.Transport{Base: answer}}
		run(t, func(f *asyncio.Fiber) error {
			_, text, err := do(f, c, http.MethodPost, "http://localhost", endless{})
			if text != "yes" && !errors.Is(err, failure) {
				t.Errorf("%q, %v", text, err)
			}
			return nil
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

// endless is a body that the fiber reads.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
