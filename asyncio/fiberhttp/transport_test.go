package fiberhttp_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/asyncio/fiberhttp"
)

// These tests run natively, and in a page: see TestInThePage.

func client(t testing.TB) *http.Client {
	return &http.Client{Transport: &fiberhttp.Transport{Base: base(t)}}
}

// run runs fn as a fiber.
func run(t testing.TB, fn func(f *asyncio.Fiber) error) {
	t.Helper()
	if err := asyncio.Run(t.Context(), fn); err != nil {
		t.Error(err)
	}
}

// do makes a request and returns its response, and the body.
func do(ctx context.Context, c *http.Client, method, url string, body io.Reader) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("X-Question", "why?")
	resp, err := c.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}

func TestA_request_has_method_header_and_body(t *testing.T) {
	server, c := serve(t), client(t)
	run(t, func(f *asyncio.Fiber) error {
		for _, body := range []io.Reader{strings.NewReader("hello"), bytes.NewBufferString("hello"),
			io.MultiReader(strings.NewReader("he"), strings.NewReader("llo"))} {
			resp, text, err := do(f, c, http.MethodPut, server+"/echo", body)
			if err != nil {
				return err
			}
			if text != "PUT hello" || resp.Header.Get("X-Answer") != "why?" {
				t.Errorf("%T: answered %q, %v", body, text, resp.Header)
			}
			if resp.Request.Context() != context.Context(f) {
				t.Errorf("%T: the response is of a request with the context %v", body, resp.Request.Context())
			}
		}
		resp, _, err := do(f, c, http.MethodGet, server+"/missing", nil)
		if err == nil && resp.StatusCode != http.StatusNotFound {
			t.Errorf("status %s, want 404", resp.Status)
		}
		return err
	})
}

// Redirects are the client's own; a body in memory is sent again.
func TestA_request_is_redirected(t *testing.T) {
	server, c := serve(t), client(t)
	run(t, func(f *asyncio.Fiber) error {
		_, text, err := do(f, c, http.MethodPost, server+"/moved", strings.NewReader("hello"))
		if err == nil && text != "POST hello" {
			t.Errorf("answered %q", text)
		}
		return err
	})
}

// The second line is sent when the first has been read.
func TestThe_body_of_a_response_is_read_as_it_comes(t *testing.T) {
	server, c := serve(t), client(t)
	run(t, func(f *asyncio.Fiber) error {
		req, _ := http.NewRequestWithContext(f, http.MethodGet, server+"/lines", nil)
		resp, err := c.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		lines := 0
		for scanner := bufio.NewScanner(resp.Body); lines < 3 && scanner.Scan(); lines++ {
			if want := fmt.Sprint("line ", lines); scanner.Text() != want {
				t.Errorf("read %q, want %q", scanner.Text(), want)
			}
			if _, _, err := do(f, c, http.MethodGet, server+"/next", nil); err != nil {
				return err
			}
		}
		if lines != 3 {
			t.Errorf("%d lines, want 3", lines)
		}
		return nil
	})
}

// A body larger than what is read at once, by reads of any size.
func TestA_large_body_arrives_unchanged(t *testing.T) {
	server, c := serve(t), client(t)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 100_000/16)
	run(t, func(f *asyncio.Fiber) error {
		for _, body := range []io.Reader{bytes.NewReader(sent), io.MultiReader(bytes.NewReader(sent))} {
			req, _ := http.NewRequestWithContext(f, http.MethodPost, server+"/echo", body)
			resp, err := c.Do(req)
			if err != nil {
				return err
			}
			var got []byte
			for err == nil {
				piece := make([]byte, 1+len(got)%5000)
				var n int
				n, err = resp.Body.Read(piece)
				got = append(got, piece[:n]...)
			}
			if err != io.EOF || string(got) != "POST "+string(sent) {
				t.Errorf("%T: %d bytes of %d, %v", body, len(got), len(sent)+5, err)
			}
			resp.Body.Close()
			if _, err := resp.Body.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("%T: after the end Read() = %v", body, err)
			}
		}
		return nil
	})
}

// slowly is a body that waits as a fiber, and uses what fibers share.
type slowly struct {
	f     *asyncio.Fiber
	reads *int
	err   error // behind the third piece
}

func (s slowly) Read(p []byte) (int, error) {
	if *s.reads == 3 {
		return 0, s.err
	}
	if err := asyncio.Sleep(s.f, time.Millisecond); err != nil {
		return 0, err
	}
	*s.reads++
	return copy(p, "piece "), nil
}

func TestThe_body_of_a_request_is_read_by_the_fiber(t *testing.T) {
	server, c := serve(t), client(t)
	run(t, func(f *asyncio.Fiber) error {
		reads := 0
		other := f.Go("other", func(f *asyncio.Fiber) error {
			for reads < 3 {
				if err := asyncio.Sleep(f, time.Millisecond); err != nil {
					return err
				}
			}
			return nil
		})
		_, text, err := do(f, c, http.MethodPost, server+"/echo", slowly{f, &reads, io.EOF})
		if err != nil {
			return err
		}
		if text != "POST piece piece piece " {
			t.Errorf("answered %q", text)
		}
		return f.Wait(other)
	})
}

func TestThe_body_of_a_response_can_be_that_of_a_request(t *testing.T) {
	server, c := serve(t), client(t)
	run(t, func(f *asyncio.Fiber) error {
		req, _ := http.NewRequestWithContext(f, http.MethodPut, server+"/echo", strings.NewReader("hello"))
		resp, err := c.Do(req)
		if err != nil {
			return err
		}
		_, text, err := do(f, c, http.MethodPost, server+"/echo", resp.Body)
		if err == nil && text != "POST PUT hello" {
			t.Errorf("answered %q", text)
		}
		return err
	})
}

func TestA_body_that_fails_fails_the_request(t *testing.T) {
	server, c := serve(t), client(t)
	run(t, func(f *asyncio.Fiber) error {
		reads, broken := 0, errors.New("broken")
		if _, _, err := do(f, c, http.MethodPost, server+"/echo", slowly{f, &reads, broken}); !errors.Is(err, broken) {
			t.Errorf("Do() = %v, want %v", err, broken)
		}
		return nil
	})
}

// A fiber, and a derived context, abort the request that waits for its response, and the one whose body is read.
func TestCancel_aborts_the_request(t *testing.T) {
	server, c := serve(t), client(t)
	reason := errors.New("no longer wanted")
	for _, path := range []string{"/never", "/endless"} {
		for _, body := range []string{"", "in memory", "read by the fiber"} {
			for _, derived := range []bool{false, true} {
				run(t, func(f *asyncio.Fiber) error {
					var got error
					cancel := func(error) {}
					fiber := f.Go("request", func(f *asyncio.Fiber) error {
						ctx := context.Context(f)
						if derived {
							ctx, cancel = context.WithCancelCause(f)
						}
						var sent io.Reader
						switch body {
						case "in memory":
							sent = strings.NewReader(body)
						case "read by the fiber":
							sent = io.MultiReader(strings.NewReader(body))
						}
						_, _, got = do(ctx, c, http.MethodPost, server+path, sent)
						if derived {
							return f.Yield() // it is not cancelled
						}
						return got
					})
					if !derived {
						cancel = fiber.Cancel
					}
					if _, _, err := do(f, c, http.MethodGet, server+"/arrived", nil); err != nil {
						return err
					}
					cancel(reason)
					err := f.Wait(fiber)
					if !errors.Is(got, reason) || derived && err != nil {
						t.Errorf("%s, body %q, derived %v: got %v, and the fiber ended with %v", path, body, derived,
							got, err)
					}
					_, _, err = do(f, c, http.MethodGet, server+"/left", nil)
					return err
				})
			}
		}
	}
}

// A body that nobody closes does not outlive its fiber; one that is closed early ends at once.
func TestA_body_that_is_not_read_ends_its_request(t *testing.T) {
	server, c := serve(t), client(t)
	for _, closes := range []bool{false, true} {
		run(t, func(f *asyncio.Fiber) error {
			err := f.Wait(f.Go("request", func(f *asyncio.Fiber) error {
				req, _ := http.NewRequestWithContext(f, http.MethodGet, server+"/endless", nil)
				resp, err := c.Do(req)
				if err != nil || !closes {
					return err
				}
				resp.Body.Close()
				_, err = resp.Body.Read(make([]byte, 1))
				if err == nil || !strings.Contains(err.Error(), "after Close") {
					t.Errorf("after Close Read() = %v", err)
				}
				_, _, err = do(f, c, http.MethodGet, server+"/left", nil)
				return err
			}))
			if err == nil && !closes {
				_, _, err = do(f, c, http.MethodGet, server+"/left", nil)
			}
			if err == nil {
				_, _, err = do(f, c, http.MethodGet, server+"/arrived", nil)
			}
			return err
		})
	}
}

func TestThe_clients_timeout_ends_the_request(t *testing.T) {
	server, c := serve(t), client(t)
	c.Timeout = time.Millisecond
	run(t, func(f *asyncio.Fiber) error {
		if _, _, err := do(f, c, http.MethodGet, server+"/endless", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Do() = %v, want it to say that the time is over", err)
		}
		return nil
	})
}

func TestA_context_of_no_fiber_panics(t *testing.T) {
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "http.NewRequestWithContext, with the *Fiber") {
			t.Errorf("Get panicked with %q", text)
		}
	}()
	client(t).Get(serve(t))
}
