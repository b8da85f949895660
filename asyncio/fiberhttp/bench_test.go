//go:build !js

package fiberhttp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/asyncio/fiberhttp"
)

// BenchmarkGet is one request of a hundred at once, and the read of its response of 1 KB, from a server in the same
// process: by goroutines, by fibers with the same client, and by fibers with Fetch.
func BenchmarkGet(b *testing.B) {
	const atOnce = 100
	text := strings.Repeat("x", 1024)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, text)
	}))
	b.Cleanup(server.Close)
	real := base(b)
	b.Run("goroutines", func(b *testing.B) {
		c := &http.Client{Transport: real}
		var left atomic.Int64
		left.Store(int64(b.N))
		var all sync.WaitGroup
		for range atOnce {
			all.Go(func() {
				for left.Add(-1) >= 0 {
					if _, _, err := do(b.Context(), c, http.MethodGet, server.URL, nil); err != nil {
						b.Error(err)
					}
				}
			})
		}
		all.Wait()
	})
	fibers := func(get func(f *asyncio.Fiber) error) func(b *testing.B) {
		return func(b *testing.B) {
			left := b.N
			run(b, func(f *asyncio.Fiber) error {
				for range atOnce {
					f.Go("get", func(f *asyncio.Fiber) error {
						for left > 0 {
							left--
							if err := get(f); err != nil {
								return err
							}
						}
						return nil
					})
				}
				return f.WaitAll()
			})
		}
	}
	c := &http.Client{Transport: &fiberhttp.Transport{Base: real}}
	b.Run("fibers", fibers(func(f *asyncio.Fiber) error {
		_, _, err := do(f, c, http.MethodGet, server.URL, nil)
		return err
	}))
	b.Run("Fetch", fibers(func(f *asyncio.Fiber) error {
		_, err := asyncio.Fetch(f, server.URL)
		return err
	}))
}
