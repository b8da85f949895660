package actors

import (
	"maps"
	"slices"

	"github.com/fiberfill/fiberfill/polyfill"
)

// Config is what a runtime gets from its program. All fields may be left out.
type Config struct {
	Clock       Clock                                   // nil: a [RealClock]
	Readiness   Readiness                               // nil: waits for descriptors return -1
	StackMemory int64                                   // bytes that the stacks of all guests may have together; 0: any number
	Log         func(from ID, level int32, text string) // nil: what actors log is dropped
	Ended       func(id ID, err error)                  // told each actor that is over; err is a *[TrapError] if it trapped, else nil
}

// Runtime owns actors and turns the wheel. It is made by [New].
type Runtime struct {
	config  Config
	machine polyfill.Machine
	actors  map[ID]*actor
	last    ID
	memory  int64    // of all stacks
	ready   []*actor // have a message and no handler that runs, in the order in which that came to be
	blocked []*actor // in no order
	woken   []*actor // unblocked by the last scan, in the order in which they go on
	mail    bool     // somebody who waits for a message has got one since the last scan
	running *actor
	inStep  bool
	closed  bool
}

// New returns a runtime without actors. One whose guests have stacks must be
// closed, unless all of them are over.
func New(config Config) *Runtime {
	if config.Clock == nil {
		config.Clock = RealClock()
	}
	return &Runtime{config: config, actors: make(map[ID]*actor)}
}

// Spawn makes a guest actor with room for mailbox messages and a stack of the
// given class, which is allocated now. The guest's code runs when a message comes. The error
// is one of [ErrClass], [ErrMailbox], [ErrNoStack] and [ErrClosed]. Handlers may call it.
func (r *Runtime) Spawn(guest Guest, mailbox int, class StackClass) (ID, error) {
	if !class.valid() {
		return 0, ErrClass
	}
	a := &actor{class: class}
	a.handle = func(m Message) bool { return guest.HandleMessage(&a.host, m) != 0 }
	return r.spawn(a, mailbox)
}

// SpawnFrom spawns a guest from a factory, as by [Runtime.Spawn].
func (r *Runtime) SpawnFrom(f Factory) (ID, error) { return r.Spawn(f.Guest(), f.Mailbox, f.Class) }

// SpawnNative makes a native actor. The error is [ErrMailbox], [ErrClosed] or nil. Handlers may call it.
func (r *Runtime) SpawnNative(native Native, mailbox int) (ID, error) {
	a := &actor{native: true}
	a.handle = func(m Message) bool { return native(&a.host, m) }
	return r.spawn(a, mailbox)
}

func (r *Runtime) spawn(a *actor, mailbox int) (ID, error) {
	switch {
	case r.closed:
		return 0, ErrClosed
	case mailbox < 1:
		return 0, ErrMailbox
	}
	a.runtime, a.size, a.host = r, mailbox, Host{a}
	if a.class != StackNone {
		if r.config.StackMemory > 0 && r.memory+int64(a.class) > r.config.StackMemory {
			return 0, ErrNoStack
		}
		if a.fiber = newFiber(a); a.fiber == nil {
			return 0, ErrNoStack
		}
		r.memory += int64(a.class)
	}
	r.last++
	a.id = r.last
	r.actors[a.id] = a
	return a.id, nil
}

// Send puts a message from outside, source 0, into an actor's mailbox. The
// payload is copied. The error is [ErrNoActor], [ErrMailboxFull] or nil. Nothing runs yet.
// Handlers send by [Host.Send].
func (r *Runtime) Send(to ID, typ int32, payload []byte) error { return r.send(0, to, typ, payload) }

func (r *Runtime) send(from, to ID, typ int32, payload []byte) error {
	a := r.actors[to]
	switch {
	case a == nil:
		return ErrNoActor
	case len(a.mailbox) == a.size:
		return ErrMailboxFull
	}
	a.mailbox = append(a.mailbox, Message{typ, from, slices.Clone(payload)})
	r.mail = r.mail || a.blocked && a.until.inside
	r.enqueue(a)
	return nil
}

// enqueue puts a into the queue if it can be given a message and is not in it.
func (r *Runtime) enqueue(a *actor) {
	if !a.queued && !a.handling && len(a.mailbox) > 0 {
		a.queued = true
		r.ready = append(r.ready, a)
	}
}

// take removes the oldest message. There must be one.
func (a *actor) take() Message {
	m := a.mailbox[0]
	a.mailbox = slices.Delete(a.mailbox, 0, 1)
	return m
}

// Info returns what there is to know of an actor; ok is false if it is over or
// never was. Handlers may call it.
func (r *Runtime) Info(id ID) (info Info, ok bool) {
	a := r.actors[id]
	if a == nil {
		return Info{}, false
	}
	info = Info{Class: a.class, Native: a.native, Mailbox: len(a.mailbox)}
	if a.blocked {
		info.Blocked, info.WaitsFor, info.Deadline = true, a.until.what, a.until.deadline
	}
	return info, true
}

// Stop ends an actor and drops its messages. One that is blocked does not go on: its fiber is dropped
// with what it waits for, and of its code only deferred functions run, in which nothing may
// block. One that runs ends when its handler returns or blocks. Stop reports
// whether there was such an actor. Handlers may call it, also for themselves.
func (r *Runtime) Stop(id ID) bool {
	a := r.actors[id]
	if a == nil || a.stopping {
		return false
	}
	if a == r.running {
		a.stopping = true
	} else {
		r.end(a, nil)
	}
	return true
}

// end takes an actor that does not run out of the world.
func (r *Runtime) end(a *actor, err error) {
	a.over, a.blocked, a.mailbox, a.until = true, false, nil, condition{}
	delete(r.actors, a.id)
	if a.fiber != nil {
		a.fiber.release()
		r.memory -= int64(a.class)
	}
	if r.config.Ended != nil {
		r.config.Ended(a.id, err)
	}
}

// Close stops all actors, the last spawned first, and there will be no others. It may be called again, but not by a handler.
func (r *Runtime) Close() {
	if r.inStep {
		panic("actors: Runtime.Close inside a step")
	}
	r.closed = true
	ids := slices.Sorted(maps.Keys(r.actors))
	for _, id := range slices.Backward(ids) {
		r.Stop(id)
	}
}
