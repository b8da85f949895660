//go:build !tinygo

package asyncio

import "context"

// maxRequests bounds the requests in flight of one loop. Browsers fail requests beyond about 1,300, and operating
// systems run out of file descriptors at similar numbers.
const maxRequests = 1000

// Response is the complete response of an HTTP server.
type Response struct {
	Status int    // the HTTP status code, 200 for instance
	Body   []byte // all of it
}

// Fetch requests url by HTTP GET and waits for the complete response. A response with any status is returned without an
// error; an error means that no complete response came. If f is cancelled, the request is aborted and Fetch returns the
// cause.
//
// In a program for JavaScript the platform's fetch makes the request, with its rules for origins, caches and relative
// URLs; elsewhere net/http does. A loop has at most 1,000 requests in flight; further ones wait their turn, in order.
func Fetch(f *Fiber, url string) (*Response, error) {
	f.mustRun("Fetch")
	if f.ctx.Err() != nil {
		return nil, context.Cause(f.ctx)
	}
	l := f.loop
	if l.fetching < maxRequests {
		l.fetching++
	} else {
		w := waiter{f, f.waits + 1}
		l.queued.Push(w)
		if err := f.wait("its turn to fetch"); err != nil {
			if f.waits != w.wait {
				l.fetched() // f was handed a place, and cancelled before it could run
			}
			return nil, err
		}
	}
	defer l.fetched()
	if f.ctx.Err() != nil {
		return nil, context.Cause(f.ctx)
	}
	return fetch(f, url)
}

// fetched hands the place of a finished request to the next fiber that waits for one.
func (l *Loop) fetched() {
	for l.queued.Len() > 0 {
		if l.queued.Pop().wake() {
			return
		}
	}
	l.fetching--
}
