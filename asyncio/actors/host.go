package actors

import (
	"fmt"

	"github.com/fiberfill/fiberfill/internal/wheel"
)

// Host is what an actor can ask of its runtime: the functions that a guest module imports from "env", where their names
// begin with mk_. It belongs to one actor. The calls that block are for its handler while that runs, and panic at
// another time.
type Host struct{ actor *actor }

// Readiness is the source that tells when a file descriptor is ready.
type Readiness interface {
	// Ready returns at once whether fd can be read, or if write is set be written, without waiting. That an error or a
	// hang-up would be found at once counts as ready, and so does a number that is no descriptor (E-FD-3).
	Ready(fd int32, write bool) bool
}

// Self is mk_self: the ID of the actor itself.
func (h *Host) Self() ID { return h.actor.id }

// Send is mk_send: it puts a copy of payload into the mailbox of to. It returns 0, or -1 if there is no such actor or
// its mailbox is full. It never blocks.
func (h *Host) Send(to ID, typ int32, payload []byte) int32 {
	if h.actor.runtime.send(h.actor.id, to, typ, payload) != nil {
		return -1
	}
	return 0
}

// Log is mk_log: it hands the text to the runtime's log. What the levels mean is between guests and those who read
// them.
func (h *Host) Log(level int32, text string) {
	if log := h.actor.runtime.config.Log; log != nil {
		log(h.actor.id, level, text)
	}
}

// SleepMs is mk_sleep_ms: it blocks the actor for ms milliseconds at least, with zero or less for one step at least,
// and returns 0; to an actor without a stack it returns -1 at once. Messages that come meanwhile wait (E-SLEEP-4).
func (h *Host) SleepMs(ms int32) int32 {
	r := h.actor.runtime
	return h.obey("SleepMs", "a timer", r.wheel.Sleep(h.id(), ms, r.now()))
}

// Recv is mk_recv: it takes the oldest message out of the mailbox, which the handler is then not called for, and blocks
// until there is one. At most len(buf) bytes of its payload are copied into buf; size is how long it is. result is 0,
// or -1 at once for an actor without a stack.
func (h *Host) Recv(buf []byte) (typ, size, result int32) {
	m, result := h.RecvMessage()
	copy(buf, m.Payload)
	return m.Type, int32(len(m.Payload)), result
}

// RecvMessage is [Host.Recv] for those who have room for whatever comes. It also tells the source.
func (h *Host) RecvMessage() (m Message, result int32) {
	a := h.actor
	if h.obey("Recv", "a message", a.runtime.wheel.Recv(h.id())) != 0 {
		return Message{}, -1
	}
	return a.mailbox.Pop(), 0
}

// WaitFDReadable is mk_wait_fd_readable: it blocks until fd can be read, for timeoutMs milliseconds at most; zero or
// less is for ever. It returns 0 when fd is ready, even if the time is over as well, and -1 when only the time is; and
// -1 at once to an actor without a stack or in a runtime without [Config.Readiness].
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

// Wait blocks until ready returns true, for timeoutMs milliseconds at most; zero or less is for ever. It returns 0, or
// -1 when only the time is over; and -1 at once to an actor without a stack. what says in words what is waited for.
//
// ready is called in each step, in the runtime and not on the actor's stack; it must not block. A panic in it is a trap
// of the actor. Wait is what the blocking calls are made of: a host adds its own with it.
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

// obey does what the wheel has answered to a blocking call, and is the one place where a handler stops in its middle.
// It returns what the call returns.
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
