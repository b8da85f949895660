package actors

import (
	"math"
	"slices"
	"time"

	"github.com/fiberfill/fiberfill/internal/queue"
	"github.com/fiberfill/fiberfill/internal/wheel"
	"github.com/fiberfill/fiberfill/polyfill"
)

// Config configures a runtime. All fields are optional.
type Config struct {
	Clock     Clock     // nil: a [RealClock]
	Readiness Readiness // nil: waits for descriptors return -1
	// limit for the stacks of all guests together, in bytes; 0: no limit
	StackMemory int64
	Log         func(from ID, level int32, text string) // nil: what actors log is dropped
	// called for each actor that is over; err is a *[TrapError] if it trapped, else nil
	Ended func(id ID, err error)
}

// Runtime owns actors and runs their steps. Make one with [New].
type Runtime struct {
	config  Config
	wheel   *wheel.Wheel
	machine *polyfill.Machine // the wheel's
	actors  map[ID]*actor
	memory  int64 // of all stacks
	inStep  bool
}

// New returns a runtime without actors. Call [Runtime.Close] unless all guests with stacks are over.
func New(config Config) *Runtime {
	if config.Clock == nil {
		config.Clock = RealClock()
	}
	w := new(wheel.Wheel)
	return &Runtime{config: config, wheel: w, machine: &w.Fibers, actors: make(map[ID]*actor)}
}

func (r *Runtime) now() wheel.Time { return wheel.Time(r.config.Clock.Now()) }

// Spawn makes a guest actor with room for mailbox messages, and allocates a stack of the given class. The guest's code
// runs when a message comes. The error is [ErrClass], [ErrMailbox], [ErrNoStack], [ErrClosed], or the error of the
// guest's [Resources]. Handlers may call it.
func (r *Runtime) Spawn(guest Guest, mailbox int, class StackClass) (ID, error) {
	a := &actor{class: class}
	a.handle = func(m Message) bool { return guest.HandleMessage(&a.host, m) != 0 }
	a.owns, _ = guest.(Resources)
	return r.spawn(a, false, mailbox)
}

// SpawnFrom spawns a guest from a factory, like [Runtime.Spawn].
func (r *Runtime) SpawnFrom(f Factory) (ID, error) { return r.Spawn(f.Guest(), f.Mailbox, f.Class) }

// SpawnNative makes a native actor. The error is [ErrMailbox], [ErrClosed] or nil. Handlers may call it.
func (r *Runtime) SpawnNative(native Native, mailbox int) (ID, error) {
	a := &actor{}
	a.handle = func(m Message) bool { return native(&a.host, m) }
	return r.spawn(a, true, mailbox)
}

func (r *Runtime) spawn(a *actor, native bool, mailbox int) (ID, error) {
	id, verdict := r.wheel.Spawn(wheel.Class(a.class), native, int32(min(max(0, mailbox), math.MaxInt32)))
	if verdict != wheel.OK {
		return 0, refusals[verdict]
	}
	a.id, a.runtime, a.host = ID(id), r, Host{a}
	defer func() {
		if r.actors[a.id] == nil { // even if the guest's Open panics
			r.wheel.Stop(id)
		}
	}()
	if err := r.allocate(a); err != nil {
		return 0, err
	}
	r.actors[a.id] = a
	return a.id, nil
}

// allocate allocates an actor's stack and opens the guest's resources.
func (r *Runtime) allocate(a *actor) error {
	if r.config.StackMemory > 0 && r.memory+int64(a.class) > r.config.StackMemory {
		return ErrNoStack
	}
	if a.owns != nil {
		if err := a.owns.Open(a.class); err != nil {
			return err
		}
	}
	if a.class != StackNone {
		a.fiber = newFiber(a, r.wheel.Fiber(wheel.ID(a.id)))
	}
	r.memory += int64(a.class)
	return nil
}

// Send puts a message from outside, source 0, into an actor's mailbox. The payload is copied. The error is
// [ErrNoActor], [ErrMailboxFull] or nil. The handler runs in a later step. Handlers use [Host.Send] instead.
func (r *Runtime) Send(to ID, typ int32, payload []byte) error { return r.send(0, to, typ, payload) }

func (r *Runtime) send(from, to ID, typ int32, payload []byte) error {
	if verdict := r.wheel.Send(wheel.ID(to)); verdict != wheel.OK {
		return refusals[verdict]
	}
	a := r.actors[to]
	a.mailbox.Push(Message{typ, from, slices.Clone(payload)})
	return nil
}

// Info describes an actor. ok is false if the actor is over or never existed. Handlers may call it.
func (r *Runtime) Info(id ID) (info Info, ok bool) {
	i, ok := r.wheel.Info(wheel.ID(id))
	if !ok {
		return Info{}, false
	}
	info = Info{Class: StackClass(i.Class), Native: i.Native, Blocked: i.Blocked, Deadline: time.Duration(i.Deadline),
		Mailbox: int(i.Mailbox)}
	if i.Blocked {
		info.WaitsFor = r.actors[id].what
	}
	return info, true
}

// Stop ends an actor and drops its messages. If the actor is blocked, its wait and its fiber are dropped; only its
// deferred functions run, which must not block. If it is running, it ends when its handler returns or blocks. Stop
// reports whether there was such an actor. Handlers may call it, even for their own actor.
func (r *Runtime) Stop(id ID) bool {
	verdict := r.wheel.Stop(wheel.ID(id))
	if verdict == wheel.OK {
		r.end(r.actors[id], nil)
	}
	return verdict != wheel.NoActor
}

// end drops everything that belongs to an actor that the wheel has ended.
func (r *Runtime) end(a *actor, err error) {
	delete(r.actors, a.id)
	a.mailbox, a.ready = queue.Queue[Message]{}, nil
	if a.fiber != nil {
		a.fiber.release()
	}
	r.memory -= int64(a.class)
	if a.owns != nil {
		a.owns.Close()
	}
	if r.config.Ended != nil {
		r.config.Ended(a.id, err)
	}
}

// Close stops all actors, the last spawned first, and refuses new ones. It may be called again, but not by a handler.
func (r *Runtime) Close() {
	if r.inStep {
		panic("actors: Runtime.Close inside a step")
	}
	r.wheel.Close()
	for id := r.wheel.Newest(); id != 0; id = r.wheel.Newest() {
		r.Stop(ID(id))
	}
}
