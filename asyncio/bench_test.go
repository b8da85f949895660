//go:build !tinygo

package asyncio_test

import (
	"fmt"
	"iter"
	"testing"

	"github.com/fiberfill/fiberfill/asyncio"
)

// One yield among n fibers: park, the scheduler's decision, resume.
func BenchmarkFiberYield(b *testing.B) {
	for _, n := range []int{2, 100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := asyncio.NewLoop(b.Context())
			for i := range n {
				times := (b.N + i) / n
				l.Go("f", func(f *asyncio.Fiber) error {
					for range times {
						f.Yield()
					}
					return nil
				})
			}
			b.ResetTimer()
			if err := l.Run(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// A switch there and back without fiberfill.
func BenchmarkIterPull(b *testing.B) {
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		for yield(struct{}{}) {
		}
	})
	defer stop()
	for b.Loop() {
		next()
	}
}

func BenchmarkGoAndWait(b *testing.B) {
	b.ReportAllocs()
	asyncio.Run(b.Context(), func(f *asyncio.Fiber) error {
		for b.Loop() {
			f.Wait(f.Go("child", func(*asyncio.Fiber) error { return nil }))
		}
		return nil
	})
}
