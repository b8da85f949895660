package actors

import (
	"fmt"

	"github.com/fiberfill/fiberfill/internal/wheel"
)

// Host is an actor's access to its runtime. A guest module imports the same functions from "env", with names that begin
// with mk_. A Host belongs to one actor. Only the actor's running handler may make a blocking call; otherwise the call
// panics.
type Host struct{ actor *actor }

// Readiness tells whether a file descriptor is ready.
type Readiness interface {
	// Ready reports, without waiting, whether a read of fd, or a write if write is set, would return at once. An error,
	// a hang-up, and a number that is no descriptor count as ready (E-FD-3).
	Ready(fd int32, write bool) bool
}

// Self is mk_self: it returns the actor's own ID.
func (h *Host) Self() ID { return h.actor.id }

// Send is mk_send: it puts a copy of payload into the mailbox of to. It returns 0, or -1 if there is no such actor or
// its mailbox is full. Send never blocks.
func (h *Host) Send(to ID, typ int32, payload []byte) int32 {
	if h.actor.runtime.send(h.actor.id, to, typ, payload) != nil {
		return -1
	}
	return 0
}

// Log is mk_log: it passes the text to [Config.Log]. The program defines what the levels mean.
func (h *Host) Log(level int32, text string) {
	if log := h.actor.runtime.config.Log; log != nil {
		log(h.actor.id, level, text)
	}
}

// SleepMs is mk_sleep_ms: it blocks the actor for at least ms milliseconds and returns 0. Zero or less means at least
// one step. For an actor without a stack it returns -1 at once. Messages that come meanwhile wait (E-SLEEP-4).
func (h *Host) SleepMs(ms int32) int32 {
	r := h.actor.runtime
	return h.obey("SleepMs", "a timer", r.wheel.Sleep(h.id(), ms, r.now()))
}

// Recv is mk_recv: it takes the oldest message out of the mailbox, and blocks until there is one. The handler is not
// called for that message. At most len(buf) bytes of the payload are copied into buf; size is the payload's full
// length. result is 0, or -1 at once for an actor without a stack.
func (h *Host) Recv(buf []byte) (typ, size, result int32) {
	m, result := h.RecvMessage()
	copy(buf, m.Payload)
	return m.Type, int32(len(m.Payload)), result
}

// RecvMessage is like [Host.Recv], but returns the whole message, with its source.
func (h *Host) RecvMessage() (m Message, result int32) {
	a := h.actor
	if h.obey("Recv", "a message", a.runtime.wheel.Recv(h.id())) != 0 {
		return Message{}, -1
	}
	return a.mailbox.Pop(), 0
}

// WaitFDReadable is mk_wait_fd_readable: it blocks until fd can be read, for at most timeoutMs milliseconds; zero or
// less means no limit. It returns 0 if fd is ready, even if the time is over too, and -1 on a timeout. For an actor
// without a stack, or in a runtime without [Config.Readiness], it returns -1 at once.
func (h *Host) WaitFDReadable(fd, timeoutMs int32) int32 {
	return h.waitFD("WaitFDReadable", fd, false, timeoutMs)
}

// WaitFDWritable is mk_wait_fd_writable: [Host.WaitFDReadable] for writing.
func (h *Host) WaitFDWritable(fd, timeoutMs int32) int32 {
	return h.waitFD("WaitFDWritable", fd, true, timeoutMs)
}

func (h *Host) waitFD(op string, fd int32, write bool, timeoutMs int32) int32 {
	source := h.actor.runtime.config.Readiness
	if source == nil {
		return -1
	}
	what := fmt.Sprint("descriptor ", fd, " to be readable")
	if write {
		what = fmt.Sprint("descriptor ", fd, " to be writable")
	}
	return h.wait(op, what, func() bool { return source.Ready(fd, write) }, timeoutMs)
}

// Wait blocks until ready returns true, for at most timeoutMs milliseconds; zero or less means no limit. It returns 0,
// or -1 on a timeout. For an actor without a stack it returns -1 at once. what describes the wait, for [Info].
//
// The runtime calls ready in each step, on its own stack. ready must not block; a panic in it is a trap of the actor. A
// host makes blocking calls of its own from Wait.
func (h *Host) Wait(what string, ready func() bool, timeoutMs int32) int32 {
	return h.wait("Wait", what, ready, timeoutMs)
}

func (h *Host) wait(op, what string, ready func() bool, timeoutMs int32) int32 {
	r := h.actor.runtime
	answer := r.wheel.Wait(h.id(), timeoutMs, r.now())
	if answer == wheel.Park {
		h.actor.ready = ready
	}
	return h.obey(op, what, answer)
}

func (h *Host) id() wheel.ID { return wheel.ID(h.actor.id) }

// obey carries out the wheel's answer to a blocking call and returns the call's result. It is the only place where a
// handler is suspended.
func (h *Host) obey(op, what string, answer wheel.Answer) int32 {
	a := h.actor
	switch answer {
	case wheel.NotRunning:
		panic(fmt.Sprintf("actors: Host.%s of actor %d, but its handler does not run: only the handler itself may "+
			"block", op, a.id))
	case wheel.Refused:
		return -1
	case wheel.Park:
		a.what = what
		a.fiber.park()
		return a.runtime.wheel.Result(h.id())
	}
	return 0
}
