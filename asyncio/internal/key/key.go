// Package key has the keys under which the context of a fiber holds values that only packages of this module may use.
package key

type (
	// Fiber is the key of the *asyncio.Fiber that the context belongs to.
	Fiber struct{}
	// Requests is the key of the *asyncio.Semaphore that bounds the requests in flight of the fiber's loop.
	Requests struct{}
)
