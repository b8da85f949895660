//go:build !js

package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// costs measures operations in turn: samples of ns an operation. bench/js/workloads.js does the same in an engine.
func costs(j job, perform func(name string, n int) (int, error)) (map[string][]float64, error) {
	once := func(name string, n int) (time.Duration, error) {
		began := time.Now()
		sum, err := perform(name, n)
		took := time.Since(began)
		if err == nil && sum != n {
			err = fmt.Errorf("the sum is %d, want %d", sum, n)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return took, err
	}
	times := map[string]int{} // repetitions per sample; calibrated twice, because the first time compiles a guest
	for _, name := range j.Operations {
		for times[name] = 100; ; times[name] *= 4 {
			first, err := once(name, times[name])
			if err != nil {
				return nil, err
			}
			second, err := once(name, times[name])
			if err != nil {
				return nil, err
			}
			if min(first, second) >= time.Duration(j.Millis)*time.Millisecond {
				break
			}
		}
	}
	samples := map[string][]float64{}
	for i := -j.Warmup; i < j.Samples; i++ {
		order := slices.Clone(j.Operations)
		if i%2 != 0 {
			slices.Reverse(order)
		}
		for _, name := range order {
			took, err := once(name, times[name])
			if err != nil {
				return nil, err
			}
			if i >= 0 {
				samples[name] = append(samples[name], float64(took.Nanoseconds())/float64(times[name]))
			}
		}
	}
	return samples, nil
}

// alive makes n fibers, all suspended in the middle of their functions, and then lets them end. It returns how many
// were alive, the bytes per fiber, and the memory of the process in GB.
func alive(n int) (map[string][]float64, error) {
	v := run.NewFibers1()
	defer v.Close()
	pause, next := v.Tag("pause"), v.Tag("next")
	onPause, onNext := v.On(pause), v.On(next)
	fibers := make([]polyfill.Fiber, n)
	live, ended := 0, 0
	var before, m runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := v.Call(func() []run.Value {
		for i := range fibers {
			fibers[i] = v.New("one of many", i32, onNext, func(self polyfill.Fiber, _ run.Event) []run.Value {
				v.Suspend(self, onNext, pause)
				return []run.Value{run.I32(1)}
			})
			v.Resume(fibers[i], onPause, next)
		}
		live = v.Live()
		runtime.ReadMemStats(&m)
		for _, f := range fibers {
			e := v.Resume(f, onPause, next)
			ended += int(e.I32(0))
		}
		return nil
	})
	if err == nil && (live != n || ended != n || v.Live() != 0) {
		err = fmt.Errorf("of %d fibers %d were alive, %d have ended, and %d are left", n, live, ended, v.Live())
	}
	taken := m.HeapInuse + m.StackInuse - before.HeapInuse - before.StackInuse
	return map[string][]float64{"alive": {float64(live)}, "alive-bytes": {float64(taken) / float64(n)},
		"alive-gb": {float64(m.Sys) / 1e9}}, err
}
