// Command actors is package wheel, the rules of actors whose code may block, as a WebAssembly module: functions that
// take and return numbers. It imports nothing.
//
// # The wire contract
//
// The other side is jsglue/src/actors/wheel.ts; the two files change together. An actor crosses the border as its ID, a
// positive i32. Times are milliseconds, with fractions. Answers and verdicts are the numbers of package wheel.
//
// No function calls out, so none can be re-entered. A trap in here is a bug in fiberfill.
package main

import (
	"math"

	"github.com/fiberfill/fiberfill/internal/wheel"
)

var w wheel.Wheel

func at(ms float64) wheel.Time { return wheel.Time(ms * float64(wheel.Millisecond)) }

// spawn returns the ID of a new actor, or a verdict with the sign changed.
//
//export spawn
func spawn(class int32, native bool, mailbox int32) int32 {
	id, verdict := w.Spawn(wheel.Class(class), native, mailbox)
	switch {
	case verdict != wheel.OK:
		return -int32(verdict)
	case id > math.MaxInt32:
		w.Stop(id)
		return -int32(wheel.NoMemory)
	}
	return int32(id)
}

//export send
func send(to int32) int32 { return int32(w.Send(wheel.ID(to))) }

//export stop
func stop(id int32) int32 { return int32(w.Stop(wheel.ID(id))) }

//export close
func closeAll() { w.Close() }

//export newest
func newest() int32 { return int32(w.Newest()) }

//export begin
func begin(now float64) { w.Begin(at(now)) }

// next returns the ID of the actor to enter, the ID of the one to resume with the sign changed, or 0 when the step is
// over.
//
//export next
func next() int32 {
	what, id := w.Next()
	if what == wheel.Resume {
		return -int32(id)
	}
	return int32(id)
}

//export back
func back(alive bool) bool { return w.Back(alive) }

//export more
func more() bool { return w.More() }

// idle returns for how many milliseconds no step will do anything, or -1 if none ever will.
//
//export idle
func idle(now, poll float64) float64 {
	d, ok := w.Idle(at(now), at(poll))
	if !ok {
		return -1
	}
	return ms(d)
}

func ms(t wheel.Time) float64 { return float64(t) / float64(wheel.Millisecond) }

//export running
func running() int32 { return int32(w.Running()) }

//export sleep
func sleep(id, ms int32, now float64) int32 { return int32(w.Sleep(wheel.ID(id), ms, at(now))) }

//export recv
func recv(id int32) int32 { return int32(w.Recv(wheel.ID(id))) }

//export wait
func wait(id, timeoutMs int32, now float64) int32 {
	return int32(w.Wait(wheel.ID(id), timeoutMs, at(now)))
}

//export waits
func waits(id int32) uint32 { return w.Waits(wheel.ID(id)) }

//export ready
func ready(id int32, wait uint32) bool { return w.Ready(wheel.ID(id), wait) }

//export result
func result(id int32) int32 { return w.Result(wheel.ID(id)) }

// blocked returns whether an actor is blocked.
//
//export blocked
func blocked(id int32) bool {
	info, _ := w.Info(wheel.ID(id))
	return info.Blocked
}

// deadline returns the deadline of a blocked actor, or 0 if there is none.
//
//export deadline
func deadline(id int32) float64 {
	info, _ := w.Info(wheel.ID(id))
	return ms(info.Deadline)
}

// mailbox returns how many messages wait for an actor, or -1 if the actor has ended.
//
//export mailbox
func mailbox(id int32) int32 {
	info, ok := w.Info(wheel.ID(id))
	if !ok {
		return -1
	}
	return info.Mailbox
}

// live returns how many fibers have not ended.
//
//export live
func live() int32 { return int32(w.Fibers.Live()) }

// active returns the reference of the fiber that runs, or 0.
//
//export active
func active() uint32 { return uint32(w.Fibers.Active()) }

func main() {}
