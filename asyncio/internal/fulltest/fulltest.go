// Package fulltest has the server for tests of how many requests are in flight.
package fulltest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// Server returns the address of a server that answers no request before the given number is in flight, and a function
// that returns the largest number that was in flight. The server ends with the test.
func Server(t *testing.T, bound int32) (url string, most func() int32) {
	var now, max atomic.Int32
	full := make(chan struct{})
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := max.Load(); n > m && !max.CompareAndSwap(m, n); m = max.Load() {
		}
		if n == bound {
			once.Do(func() { close(full) })
		}
		<-full
	}))
	t.Cleanup(server.Close)
	return server.URL, max.Load
}
