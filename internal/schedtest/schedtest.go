// Package schedtest is the scheduler's specification as tests. The tests run against package asyncio as plain Go and
// against the core.wasm that pages load, so that both keep the same promises.
//
// Each test drives a [Core] through a stage: an event loop with a virtual clock. The stage obeys the core's commands,
// asks [Core.Wanted] and [Core.Deadline], and knows nothing else, so if the core loses a completion, the program stops
// half-way. Every test ends by judging the scheduler's whole log. Only [Unused] can empty a log, and no test has one.
package schedtest

import (
	"testing"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/polyfill"
)

// Core is the scheduler behind the wire contract of jsglue/core/main.go.
type Core interface {
	Init(budget float64, soft, hard int32)
	Limit(soft, hard int32)
	Stalled() bool
	Spawn() polyfill.Fiber
	Begin() (f polyfill.Fiber, started bool)
	Wait(now float64) asyncio.Command
	Sleep(until, now float64) asyncio.Command
	Yield(now float64) asyncio.Command
	Finish(trap bool, now float64) asyncio.Command
	Drop(f polyfill.Fiber) bool
	Notify(f polyfill.Fiber, wait uint32) bool
	Wanted() bool
	Turn(now float64) asyncio.Command
	Deadline() (at float64, ok bool)
	Live() int
	Log() []asyncio.Record
}

// Unused is a core before its first use. It records nothing before StartLog.
type Unused interface {
	Core
	StartLog()
}

type test struct {
	name string
	run  func(s *stage)
}

// Run runs every test, each on a core of its own that open makes and that is not initialised yet.
func Run(t *testing.T, open func(t *testing.T) Unused) {
	for _, group := range [][]test{fetchTests, muxTests, turnTests, limitTests, timerTests, beginTests} {
		for _, test := range group {
			t.Run(test.name, func(t *testing.T) {
				s := newStage(t, open(t))
				test.run(s)
				s.judge()
			})
		}
	}
	t.Run("random programs end", func(t *testing.T) { randomPrograms(t, open) })
}
