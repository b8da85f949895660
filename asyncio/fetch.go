//go:build !tinygo

package asyncio

import "context"

// maxRequests bounds the requests in flight of one loop. Browsers fail requests beyond about 1,300, and operating
// systems run out of file descriptors at similar numbers.
const maxRequests = 1000

var requestsOfLoop = Semaphore{size: maxRequests, what: "its turn to make a request"}

// Response is the complete response of an HTTP server.
type Response struct {
	Status int    // the HTTP status code, 200 for instance
	Body   []byte // all of it
}

// Fetch requests url by HTTP GET and waits for the complete response. A response with any status is returned without an
// error; an error means that no complete response came. If the fiber is cancelled or ctx, which is the fiber or derives
// from it, is done, the request is aborted and Fetch returns the cause.
//
// In a program for JavaScript the platform's fetch makes the request, with its rules for origins, caches and relative
// URLs; elsewhere net/http does. A loop has at most 1,000 requests in flight; further ones wait their turn, in order.
//
// Package fiberhttp makes requests of any kind.
func Fetch(ctx context.Context, url string) (*Response, error) {
	f := fiberOf(ctx, "Fetch")
	requests := &f.loop.requests
	if err := requests.Acquire(ctx); err != nil {
		return nil, err
	}
	defer requests.Release()
	if err := f.ended(ctx); err != nil { // ctx may be done by the time its turn has come
		return nil, err
	}
	return fetch(ctx, f, url)
}
