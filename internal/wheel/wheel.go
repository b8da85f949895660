package wheel

import (
	"github.com/fiberfill/fiberfill/internal/queue"
	"github.com/fiberfill/fiberfill/polyfill"
)

// ID names an actor. IDs count up from 1 and are never reused.
type ID int64

// Time is a time in nanoseconds, since a moment that the substrate chooses.
type Time int64

// Millisecond is the unit of guests' times.
const Millisecond Time = 1_000_000

// Class is the size of a stack in bytes (E-CLASS-1).
type Class int32

const (
	None Class = 0 // no fiber
	C32K Class = 32768
	C64K Class = 65536
	C128 Class = 131072
)

// Verdict is the answer to an operation from outside. Refused operations change nothing (K-2).
type Verdict int32

const (
	OK          Verdict = iota
	NoActor             // the actor is over, or never existed
	MailboxFull         // E-MSG-3
	BadClass            // E-CLASS-2
	BadMailbox          // the mailbox has no room for a message
	Closed
	NoMemory // too many fibers
	Later    // of Stop: the actor is running, and ends at Back
)

// Wheel holds all actors of one runtime. The zero Wheel has none.
type Wheel struct {
	Fibers polyfill.Machine

	live   []*actor // by ID
	spare  []*actor // records of actors that are over, for reuse
	last   ID
	closed bool

	// These hold IDs, because an actor in them may be over.
	ready   queue.Queue[ID] // have a message and no running handler, in the order in which they became ready
	blocked []ID            // in the order in which they parked
	woken   []ID            // unblocked by the last scan, in the order in which they go on
	due     []ID            // found by the previous scan: this step resumes them
	at      int             // how many of due are done
	given   bool            // this step has delivered its message
	come    bool            // a wait has completed since the last scan
	running *actor
}

// actor is what the wheel knows of an actor.
type actor struct {
	id       ID
	class    Class
	native   bool
	fiber    polyfill.Fiber // 0: none
	mail     int32          // messages in the mailbox
	room     int32          // for how many
	queued   bool           // is in Wheel.ready
	handling bool           // a call of the handler has begun and not ended
	blocked  bool
	stopping bool // stopped while it ran

	// The current wait, or the last one. It ends at its cause or at its deadline, whichever comes first.
	cause    Cause
	ready    bool // Ready was called
	timed    bool // there is a deadline
	deadline Time
	waits    uint32 // waits begun
}

// Cause is what an actor waits for, apart from a deadline.
type Cause int32

const (
	Timer   Cause = iota // nothing else
	Mail                 // a message
	Outside              // something that only the substrate can see
)

// Spawn makes an actor with room for mailbox messages, and its fiber (E-SPAWN-2). A native actor has class None. The
// verdict is OK, BadClass, BadMailbox, Closed or NoMemory. The substrate then allocates the stack; if that fails, it
// calls Stop.
func (w *Wheel) Spawn(class Class, native bool, mailbox int32) (ID, Verdict) {
	switch {
	case class != None && class != C32K && class != C64K && class != C128:
		return 0, BadClass
	case w.closed:
		return 0, Closed
	case mailbox < 1:
		return 0, BadMailbox
	}
	var fiber polyfill.Fiber
	if class != None {
		if fiber = w.Fibers.New(); fiber == 0 {
			return 0, NoMemory
		}
	}
	w.last++
	a := w.record()
	*a = actor{id: w.last, class: class, native: native, fiber: fiber, room: mailbox}
	w.live = append(w.live, a)
	return a.id, OK
}

func (w *Wheel) record() *actor {
	last := len(w.spare) - 1
	if last < 0 {
		return new(actor)
	}
	a := w.spare[last]
	w.spare = w.spare[:last]
	return a
}

// place returns the actor's index in live, or the index where it would be.
func (w *Wheel) place(id ID) int {
	low, high := 0, len(w.live)
	for low < high {
		middle := int(uint(low+high) / 2)
		if w.live[middle].id < id {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

func (w *Wheel) find(id ID) *actor {
	if i := w.place(id); i < len(w.live) && w.live[i].id == id {
		return w.live[i]
	}
	return nil
}

// Send counts a message into a mailbox. At OK the substrate puts the message there. The other verdicts are NoActor and
// MailboxFull. The sender never blocks.
func (w *Wheel) Send(to ID) Verdict {
	a := w.find(to)
	switch {
	case a == nil:
		return NoActor
	case a.mail == a.room:
		return MailboxFull
	}
	a.mail++
	w.come = w.come || a.blocked && a.cause == Mail
	w.enqueue(a)
	return OK
}

// enqueue puts a into the ready queue, unless it is there, has no message, or its handler has not ended (E-MSG-1,
// E-MSG-2).
func (w *Wheel) enqueue(a *actor) {
	if !a.queued && !a.handling && a.mail > 0 {
		a.queued = true
		w.ready.Push(a.id)
	}
}

// Stop ends an actor. At OK it is over, and the substrate drops its messages and its stack without running it
// (E-LIFE-2). At Later it is running, and Back will report that it is over. At NoActor it is over, or has been stopped.
func (w *Wheel) Stop(id ID) Verdict {
	a := w.find(id)
	switch {
	case a == nil || a.stopping:
		return NoActor
	case a == w.running:
		a.stopping = true
		return Later
	}
	w.end(a)
	return OK
}

// Close refuses further actors. The substrate stops the existing ones.
func (w *Wheel) Close() { w.closed = true }

// end removes an actor that is not running.
func (w *Wheel) end(a *actor) {
	if a.fiber != 0 {
		w.Fibers.Kill(a.fiber) // after Abort it is over already
	}
	i := w.place(a.id)
	copy(w.live[i:], w.live[i+1:])
	w.live = w.live[:len(w.live)-1]
	w.spare = append(w.spare, a)
}

// Info describes an actor.
type Info struct {
	Class    Class
	Native   bool
	Blocked  bool
	Deadline Time  // of a blocked one; 0: none
	Mailbox  int32 // messages that wait
}

// Info describes an actor. ok is false if the actor is over or never existed.
func (w *Wheel) Info(id ID) (info Info, ok bool) {
	a := w.find(id)
	if a == nil {
		return Info{}, false
	}
	info = Info{Class: a.class, Native: a.native, Blocked: a.blocked, Mailbox: a.mail}
	if a.blocked {
		info.Deadline = a.deadline
	}
	return info, true
}

// Newest returns the actor spawned last of those alive, or 0.
func (w *Wheel) Newest() ID {
	if len(w.live) == 0 {
		return 0
	}
	return w.live[len(w.live)-1].id
}

// Running returns the running actor, or 0.
func (w *Wheel) Running() ID {
	if w.running == nil {
		return 0
	}
	return w.running.id
}

// Fiber returns the reference of an actor's fiber, or 0.
func (w *Wheel) Fiber(id ID) polyfill.Fiber {
	if a := w.find(id); a != nil {
		return a.fiber
	}
	return 0
}
