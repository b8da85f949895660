//go:build !tinygo

package asyncio

import "context"

// maxRequests bounds the requests in flight of one loop. Browsers fail requests beyond some 1,300, and systems run out
// of file descriptors at similar numbers.
const maxRequests = 1000

// Response is a complete answer of an HTTP server.
type Response struct {
	Status int    // the HTTP status code, 200 for instance
	Body   []byte // all of it
}

// Fetch requests url by HTTP GET and waits for the complete answer. An answer with any status is returned without
// error; an error means that there was no complete answer. If f is cancelled the request is aborted and the cause
// returned.
//
// In a program for JavaScript the request is made by the platform's fetch, with all that it knows of origins, caches
// and relative URLs; elsewhere by net/http. A loop has at most 1,000 requests in flight; further ones wait for their
// turn in order.
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
				l.fetched() // it had got the place, and was cancelled before it could go on
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

// fetched hands the place of a request that is over to the next fiber that still waits for it.
func (l *Loop) fetched() {
	for l.queued.Len() > 0 {
		if l.queued.Pop().wake() {
			return
		}
	}
	l.fetching--
}
