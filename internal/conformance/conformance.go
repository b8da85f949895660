// Package conformance is the scheduler's specification as tests. It is run against package asyncio as plain Go and
// against the core.wasm that pages load, so that what holds here holds there.
//
// Each test drives a [Core] through a stage: an event loop with a virtual clock that obeys the core's commands, asks
// [Core.Wanted] and [Core.Deadline] and knows nothing else. A completion that the core forgets therefore makes a
// program stop half-way, and every test ends by judging the whole log of what the scheduler did: only [Unused] can
// empty a log, and no test has one.
package conformance

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

// Unused is a core as it is made. It records nothing before StartLog.
type Unused interface {
	Core
	StartLog()
}

type test struct {
	name string
	run  func(s *stage)
}

// Run runs every test on a core of its own, made by open and not yet initialised.
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
