// Package fiberhttp lets fibers make HTTP requests with net/http: with any method, header, body and client, and with
// bodies that are read as they come. [asyncio.Fetch] is enough for a GET whose response fits into memory.
//
//	client := &http.Client{Transport: &fiberhttp.Transport{}}
//
//	func upload(f *asyncio.Fiber, client *http.Client, ...) error {
//		req, err := http.NewRequestWithContext(f, http.MethodPost, url, body)
//		...
//		resp, err := client.Do(req) // waits; the other fibers go on
//		if err != nil {
//			return err
//		}
//		defer resp.Body.Close()
//		...io.Copy(file, resp.Body) // every read waits, too
//	}
//
// # How it works
//
// A [http.Client] calls its Transport on the goroutine that calls the client, the fiber's. So redirects, cookies and
// timeouts are the client's own, and only two things must not block the loop: the round trip and the reads of the body.
// [Transport] hands both to goroutines, by [asyncio.Block], and the fiber waits.
//
// # In a page
//
// Compiled for JavaScript, net/http uses the page's fetch, with its rules for origins and redirects. It collects the
// whole body of a request before it sends it; bodies of responses come in pieces. A program grows by 7.5 MB, 1.6 MB
// with brotli, by net/http. In Node, net/http reaches no server: it uses a network of its own, for tests, if
// process.argv0 begins with "node". Use [asyncio.Fetch] there.
package fiberhttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/asyncio/internal/key"
)

// Transport makes the requests of a [http.Client] whose callers are fibers. The context of each request is the fiber
// that makes it, or one derived from it: when that context is done, the request is aborted, and whatever waits for it
// returns the cause. A request whose context belongs to no fiber panics, because it would block.
//
// The same Transport may be used by fibers of any loop, and by any number at once. A loop has at most 1,000 requests
// that wait for the header of their response, those of [asyncio.Fetch] counted; further ones wait their turn, in order.
//
// The fiber that has made a request is the one that reads and closes the body of its response. If it does neither, the
// request is aborted when the fiber is over.
//
// The body of a request is read by that fiber as well, before the response is returned; so it may wait as the fiber
// does, like the body of another response. A response whose status is no success ends that, since most likely the
// server reads no more of the body; so does one of HTTP/1 that comes before anything of the body has been asked for. A
// body of package os, bytes or strings, and the end of an [io.Pipe], is read by a goroutine.
type Transport struct {
	// Base makes the requests. Nil means [http.DefaultTransport].
	Base http.RoundTripper
}

var errUpgraded = errors.New("fiberhttp: the server has switched protocols (status 101), which fibers cannot use: " +
	"use Base and goroutines for this connection")

// RoundTrip implements [http.RoundTripper]. It is for [http.Client], whose methods wait because it does.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	f, ok := ctx.Value(key.Fiber{}).(*asyncio.Fiber)
	if !ok {
		closeBody(req)
		panic("fiberhttp: the request has a context of no fiber, and would block: make it by " +
			"http.NewRequestWithContext, with the *Fiber that the function got or a context derived from it")
	}
	places := ctx.Value(key.Requests{}).(*asyncio.Semaphore)
	if err := places.Acquire(ctx); err != nil {
		closeBody(req)
		return nil, err
	}
	defer places.Release()
	if err := context.Cause(ctx); err != nil { // ctx may be done by the time its turn has come
		closeBody(req)
		return nil, err
	}
	if readByGoroutine(req.Body) {
		return t.wait(ctx, ctx, req, req.Body)
	}
	return t.feed(f, req)
}

// wait makes a request on a goroutine, and waits with the context wait of a fiber. The request ends with ctx.
func (t *Transport) wait(wait, ctx context.Context, req *http.Request, from io.ReadCloser) (*http.Response, error) {
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	return asyncio.Block(wait, func(context.Context) (*http.Response, error) {
		// A fiber's key must not reach code that does not run as the fiber.
		own, cancel := context.WithCancel(context.WithValue(ctx, key.Fiber{}, nil))
		out := req.WithContext(own)
		out.Body = from
		if from != req.Body {
			out.GetBody = nil
		}
		resp, err := base.RoundTrip(out)
		if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
			resp.Body.Close()
			err = errUpgraded
		}
		if err != nil {
			cancel()
			return nil, causeOf(ctx, err)
		}
		resp.Request = req
		resp.Body = newBody(ctx, cancel, resp)
		return resp, nil
	})
}

// feed makes a request whose body the fiber reads itself, piece by piece, while a child of it waits for the response.
func (t *Transport) feed(f *asyncio.Fiber, req *http.Request) (resp *http.Response, err error) {
	ctx := req.Context()
	reader, to := io.Pipe()
	from := &sent{PipeReader: reader}
	sending, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	child := f.Go(f.Name()+".request", func(c *asyncio.Fiber) error {
		resp, err = t.wait(c, ctx, req, from)
		// HTTP/1 reads of the body before it sends the header; with HTTP/2 an answer may come first, and want the body.
		if err != nil || resp.StatusCode >= 300 || resp.ProtoMajor < 2 && !from.read.Load() {
			stop(errAnswered)
		}
		return nil
	})
	answered := false
	// Without this, if the body panics for instance, the goroutine would wait for ever.
	defer func() {
		if !answered {
			to.CloseWithError(errors.New("fiberhttp: the request's body was not read to its end"))
		}
	}()
	if err := pump(sending, to, req.Body); err != errAnswered {
		to.CloseWithError(err)
	}
	if ended := f.Wait(child); ended != nil {
		return nil, ended
	}
	if answered = err == nil && context.Cause(sending) == errAnswered; answered {
		// The pipe stays open: an error of the request's body would end the connection, and with it the response.
		answer := resp.Body.(*body)
		end := answer.end
		answer.end = func() { end(); from.Close() }
	}
	return resp, err
}

// sent is a request's body that a fiber sends.
type sent struct {
	*io.PipeReader
	read atomic.Bool // some of it has been asked for
}

func (s *sent) Read(p []byte) (int, error) {
	s.read.Store(true)
	return s.PipeReader.Read(p)
}

// errAnswered ends the sending of a request's body.
var errAnswered = errors.New("fiberhttp: the server has answered before the end of the request's body")

// pump reads body and writes it to a pipe, until the end of either, or until ctx is done. It closes body.
func pump(ctx context.Context, to *io.PipeWriter, body io.ReadCloser) error {
	defer body.Close()
	piece := make([]byte, pieceSize)
	for {
		n, err := body.Read(piece)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if n > 0 {
			// If ctx ends this wait, the goroutine may still read piece, so the loop must not go on.
			_, err := asyncio.Block(ctx, func(context.Context) (int, error) { return to.Write(piece[:n]) })
			if errors.Is(err, io.ErrClosedPipe) { // the server wants no more of it, or the request has failed
				return nil
			}
			if err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// readByGoroutine reports whether a request's body is of a type that certainly neither waits as a fiber nor uses what
// fibers share. net/http reads it directly, knows some of these types, and can send them a second time.
func readByGoroutine(body io.ReadCloser) bool {
	var r io.Reader = body
	if t := reflect.TypeOf(body); t == plainCloser || t == writingCloser {
		r, _ = reflect.ValueOf(body).Field(0).Interface().(io.Reader)
	}
	switch r.(type) {
	case nil, *bytes.Buffer, *bytes.Reader, *strings.Reader, *os.File, *io.PipeReader:
		return true
	}
	return body == http.NoBody
}

// The types of what io.NopCloser returns: http.NewRequest wraps readers so.
var (
	plainCloser   = reflect.TypeOf(io.NopCloser(struct{ io.Reader }{}))
	writingCloser = reflect.TypeOf(io.NopCloser(new(bytes.Reader)))
)
