// Command core is the scheduler as a WebAssembly module: package asyncio behind functions that take and return numbers.
// It imports nothing.
//
// # The wire contract
//
// The other side is jsglue/src/turn/core.ts; the two files change together. A fiber crosses the border as its 32-bit
// reference. Every function that ends a step of a fiber or begins a turn returns a command: the reference of the one
// fiber to run now, 0 when nothing is ready, or -1 when the turn's time is used up. Times are milliseconds of
// performance.now(). Booleans are 0 and 1.
//
// No function calls out, so none can be re-entered, and no exception ever passes through these frames. A trap in here
// is a bug of ours that leaves the scheduler in an unknown state: the glue rejects every fiber and says so.
//
// Why: RATIONALE.md, "Why is the scheduler wasm, and why TinyGo?".
// Why: RATIONALE.md, "Why does the core import nothing, and why is time an argument?".
package main

import (
	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/polyfill"
)

var scheduler asyncio.Scheduler

//export init
func initialise(budget float64, soft, hard int32) { scheduler.Init(budget, soft, hard) }

//export limit
func limit(soft, hard int32) { scheduler.Limit(soft, hard) }

//export stalled
func stalled() bool { return scheduler.Stalled() }

//export spawn
func spawn() uint32 { return uint32(scheduler.Spawn()) }

// begin returns the new fiber; ask running whether it has started.
//
//export begin
func begin() uint32 {
	f, _ := scheduler.Begin()
	return uint32(f)
}

//export running
func running() uint32 { return uint32(scheduler.Machine.Active()) }

//export wait
func wait(now float64) uint32 { return uint32(scheduler.Wait(now)) }

//export sleep
func sleep(until, now float64) uint32 { return uint32(scheduler.Sleep(until, now)) }

//export yield
func yield(now float64) uint32 { return uint32(scheduler.Yield(now)) }

//export finish
func finish(trap bool, now float64) uint32 { return uint32(scheduler.Finish(trap, now)) }

//export drop
func drop(f uint32) bool { return scheduler.Drop(polyfill.Fiber(f)) }

//export notify
func notify(f, wait uint32) bool { return scheduler.Notify(polyfill.Fiber(f), wait) }

//export wanted
func wanted() bool { return scheduler.Wanted() }

//export turn
func turn(now float64) uint32 { return uint32(scheduler.Turn(now)) }

// deadline returns when the next turn is due, or a negative number.
//
//export deadline
func deadline() float64 {
	at, ok := scheduler.Deadline()
	if !ok {
		return -1
	}
	return at
}

// live returns how many fibers are not over.
//
//export live
func live() int32 { return int32(scheduler.Machine.Live()) }

//export log_start
func logStart() { scheduler.StartLog() }

// log returns the i-th event of the log and, in the lower 32 bits, its fiber; 0 after the last.
//
//export log
func log(i int32) float64 {
	list := scheduler.Log()
	if int(i) >= len(list) {
		return 0
	}
	return float64(list[i].Event)*(1<<32) + float64(list[i].Fiber)
}

func main() {}
