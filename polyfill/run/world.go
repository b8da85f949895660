package run

import (
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/fiberfill/fiberfill/polyfill"
)

// world is what the four systems have in common: the coroutines, the loop that jumps between them, the one message that
// is under way, and the ends.
type world struct {
	machine *polyfill.Machine
	table   []*coroutine // by Fiber.Index; nil: over
	root    coroutine    // the frame of Call
	current *coroutine   // nil: there is no Call
	goal    *coroutine   // who runs when the issuer, which is over, has been unwound
	dying   []*coroutine
	message message
	failure *Trap // on its way to Call

	name string // of the system's package
	// finish is the system's rule for the end of a fiber's function (P7). It returns who runs now.
	finish func(c *coroutine, results []Value, thrown *Exception) (*coroutine, *Trap)
	// arrive and leave, if not nil, are what the system does at both ends of Call.
	arrive, leave func()
}

// message is what travels with the jump under way. There is one, since one computation is active.
type message struct {
	tag       *Tag
	label     int32
	n         int32 // values in buffer
	exception *Exception
	token     polyfill.Token
	buffer    [polyfill.MaxValues]Value
}

func (m *message) event() Event { return Event{m.tag, m.label, m.buffer[:m.n]} }

// first is the event that a function begins with. Its values are the function's parameters, so the function has them
// for itself.
func (m *message) first() Event { return Event{m.tag, m.label, append(Values(nil), m.buffer[:m.n]...)} }

func (m *message) put(tag *Tag, values []Value) {
	m.tag, m.n = tag, int32(copy(m.buffer[:], values))
}

// coroutine is a fiber's function on its goroutine.
type coroutine struct {
	world *world
	fiber polyfill.Fiber
	name  string
	body  func() []Value

	next    func() (struct{}, bool) // nil: never entered
	stop    func()
	yield   func(struct{}) bool
	dead    bool // over; what is left is to unwind it
	pulling bool // on its goroutine others are pulled
	outside bool // it is a function of the embedder's, for the root to pull
	owner

	bound  []Value                 // values supplied by Stacks.Bind
	admits func(*Tag, Values) bool // filter of Cont.ResumeIf, while it waits
}

func (w *world) init(name string, machine *polyfill.Machine) {
	w.name, w.machine = name, machine
	w.root.world, w.root.name = w, "the root"
}

// add makes the coroutine of a new fiber.
func (w *world) add(f polyfill.Fiber, name string, body func() []Value) {
	for f.Index() >= len(w.table) {
		w.table = append(w.table, nil)
	}
	if name == "" {
		name = fmt.Sprintf("fiber %#x", uint32(f))
	}
	w.table[f.Index()] = &coroutine{world: w, fiber: f, name: name, body: body}
}

func (w *world) at(f polyfill.Fiber) *coroutine {
	if f == 0 {
		return &w.root
	}
	return w.table[f.Index()]
}

// enter begins an operation: only the active computation may.
func (w *world) enter() {
	c := w.current
	if c == nil {
		panic("polyfill/run: operation outside of Call: fibers are made and entered inside the function that Call is " +
			"given")
	}
	if !c.is() {
		panic(fmt.Sprintf("polyfill/run: operation on a goroutine other than that of %s, which runs", c.name))
	}
	if c.dead {
		panic(unwinding{})
	}
}

// send begins an operation that sends values.
func (w *world) send(tag *Tag, values []Value) polyfill.Event {
	w.enter()
	w.message.put(tag, values)
	e := polyfill.Event{Payload: typesOf(values)}
	if tag != nil && tag.world == w {
		e.Tag = tag.number
	}
	return e
}

// transfer performs a transition with the message. It returns when the issuer is entered again, with what has arrived,
// or panics: with an exception that has arrived, or because the issuer is over.
//
// It is one function, and not several, because behind a switch the processor mispredicts every return.
func (w *world) transfer(to polyfill.Transition) Event {
	m := &w.message
	m.label = to.Label
	if to.Label == polyfill.Next {
		m.tag = nil
	}
	from, target := w.current, w.at(to.To)
	w.goal = target
	switch {
	case from.dead:
		panic(unwinding{})
	case from == target: // a switch to itself
	case w.pulls(from):
		w.current, from.pulling = target, true
		for w.current != from && !from.dead {
			// from has been suspended by others, with all below it
			if from != &w.root && (w.current.outside || !w.pulls(from)) {
				from.pulling = false
				if !from.yield(struct{}{}) {
					panic(unwinding{})
				}
				from.pulling = true
			} else if next := w.current.next; next != nil {
				next()
			} else {
				w.start(w.current)
			}
		}
		from.pulling = false
		if from.dead {
			w.current = from // it is its deferred functions that run now
			panic(unwinding{})
		}
	default:
		w.current = target
		if !from.yield(struct{}{}) {
			panic(unwinding{})
		}
	}
	if e := m.exception; e != nil {
		m.exception = nil
		panic(e)
	}
	return m.event()
}

// pulls reports whether a coroutine is the one to pull whoever runs: it is the root, or waits for a fiber that it has
// entered.
func (w *world) pulls(c *coroutine) bool {
	return c == &w.root || w.machine.State(c.fiber) == polyfill.Busy
}

// start enters a coroutine for the first time.
func (w *world) start(c *coroutine) {
	if e := w.message.exception; e != nil {
		// An exception for a function that has never run leaves it at once (D-THROW-4, C-THROW-2).
		w.message.exception = nil
		w.end(c, nil, e, nil)
		return
	}
	c.next, c.stop = iter.Pull(c.run)
	c.next()
}

// Outside runs f on the goroutine of Call, and not on that of the fiber that asks for it: there the embedder can do
// what it can do nowhere else, such as park the whole entry. Nothing else runs meanwhile, and f must not use the
// system.
func (w *world) Outside(f func()) {
	w.enter()
	from := w.current
	if from == &w.root {
		f()
		return
	}
	w.current = &coroutine{world: w, name: from.name, outside: true, next: func() (struct{}, bool) {
		f()
		w.current = from
		return struct{}{}, true
	}}
	if !from.yield(struct{}{}) {
		panic(unwinding{})
	}
}

// run is what the coroutine's goroutine executes.
func (c *coroutine) run(yield func(struct{}) bool) {
	c.yield = yield
	c.claim()
	results, thrown, trap := c.call(c.body)
	c.world.end(c, results, thrown, trap)
}

// call runs a computation's function and tells how it ended.
func (c *coroutine) call(body func() []Value) (results []Value, thrown *Exception, trap *Trap) {
	normal := false
	defer func() {
		if normal {
			return
		}
		switch r := recover().(type) {
		case nil: // Goexit goes on
		case unwinding:
		case *Exception:
			thrown = r
		default:
			trap = &Trap{Operation: c.world.name, Fiber: c.name, Code: polyfill.Unreachable, Rule: "K-9", Panic: r,
				Stack: debug.Stack()}
		}
	}()
	results = body()
	normal = true
	return results, nil, nil
}

// end decides who runs after a function has ended.
func (w *world) end(c *coroutine, results []Value, thrown *Exception, trap *Trap) {
	if c.dead {
		w.current = w.goal
		return
	}
	if trap == nil {
		var to *coroutine
		if to, trap = w.finish(c, results, thrown); trap == nil {
			w.table[c.fiber.Index()] = nil
			w.current = to
			return
		}
	}
	w.fail(trap)
	w.table[c.fiber.Index()] = nil
	w.current = &w.root
}

// deliver makes what a function ended with the message.
func (w *world) deliver(results []Value, thrown *Exception, tag *Tag, label int32) {
	w.message.put(tag, results)
	w.message.label, w.message.exception = label, thrown
}
