package run

import (
	"iter"
	"runtime"
	"testing"

	"github.com/fiberfill/fiberfill/polyfill"
)

// A resume and a suspend, beside a step of iter.Pull: the target is 2.5 times as much (measured from the embedder's
// entry, as the step is).
func BenchmarkResumeSuspend(b *testing.B) {
	b.Run("iter.Pull step", func(b *testing.B) {
		next, stop := iter.Pull(func(yield func(int32) bool) {
			for i := int32(0); yield(i); i++ {
			}
		})
		defer stop()
		for b.Loop() {
			next()
		}
	})
	v := NewFibers1()
	defer v.Close()
	yield, next := v.Tag("yield", polyfill.I32), v.Tag("next")
	onYield, onNext := v.On(yield), v.On(next)
	generator := func(self polyfill.Fiber, _ Event) []Value {
		for i := int32(0); ; i++ {
			v.Suspend(self, onNext, yield, I32(i))
		}
	}
	loop := func(b *testing.B) {
		g := v.New("generator", 0, onNext, generator)
		for b.Loop() {
			v.Resume(g, onYield, next)
		}
		v.Release(g)
	}
	b.Run("V1 from the entry", func(b *testing.B) {
		v.Call(func() []Value { loop(b); return nil })
	})
	b.Run("V1 from a fiber", func(b *testing.B) {
		v.Call(func() []Value {
			v.Spawn("consumer", 0, 0, func(polyfill.Fiber, Event) []Value { loop(b); return nil })
			return nil
		})
	})
	b.Run("making and ending", func(b *testing.B) {
		v.Call(func() []Value {
			for b.Loop() {
				g := v.New("generator", 0, onNext, generator)
				v.Resume(g, onYield, next)
				v.Release(g)
			}
			return nil
		})
	})
}

// A million fibers, all suspended in the middle of their function.
func BenchmarkMillionFibers(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		v := NewFibers1()
		pause, next := v.Tag("pause"), v.Tag("next")
		onPause, onNext := v.On(pause), v.On(next)
		fibers := make([]polyfill.Fiber, n)
		_, err := v.Call(func() []Value {
			for i := range fibers {
				fibers[i] = v.New("one of a million", 0, onNext, func(self polyfill.Fiber, _ Event) []Value {
					v.Suspend(self, onNext, pause)
					return nil
				})
				v.Resume(fibers[i], onPause, next)
			}
			return nil
		})
		if err != nil || v.Live() != n {
			b.Fatalf("%d fibers live, error %v", v.Live(), err)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapInuse+m.StackInuse)/n, "bytes/fiber")
		b.ReportMetric(float64(m.Sys)/(1<<30), "GB")
		v.Close()
	}
}
