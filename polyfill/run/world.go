package run

import (
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/fiberfill/fiberfill/polyfill"
)

// world is what the four systems have in common: the coroutines, the loop that jumps between them, the current message,
// and the ends. A view decides, and world carries out its plans.
type world struct {
	view    view
	machine *polyfill.Machine
	plan    *polyfill.Plan
	made    []*Tag       // of number i+1
	table   []*coroutine // by Fiber.Index; nil: over
	root    coroutine    // the frame of Call
	current *coroutine   // nil: there is no Call
	goal    *coroutine   // the coroutine that runs once the issuer, which is over, has been unwound
	message message
	failure *Trap // on its way to Call

	name string // of the system's package
	// arrive and leave, if not nil, are what the system does at both ends of Call.
	arrive, leave func()
}

// view is a system of package fibers1, fibers2, stacks or cont.
type view interface {
	// Returned and Threw plan what follows the end of the active fiber's function.
	Returned(results polyfill.Types) polyfill.Trap
	Threw() polyfill.Trap
	// Operation, Rule and Explain tell which operation was refused last, by which rule, and what to do about it.
	Operation() string
	Rule(t polyfill.Trap) string
	Explain(text []byte, t polyfill.Trap) []byte
}

// message is what travels with the current jump, beside what the plan says of it. There is one, because one computation
// is active.
type message struct {
	n         int32 // values in buffer
	exception *Exception
	buffer    [polyfill.MaxValues]Value
}

func (m *message) put(values []Value) { m.n = int32(copy(m.buffer[:], values)) }

// event is what has arrived.
func (w *world) event() Event {
	return Event{w.tag(w.plan.Tag), w.plan.Label, w.message.buffer[:w.message.n]}
}

// first is the event that a function begins with. The function gets a copy of the values, because they are its
// parameters.
func (w *world) first() Event {
	e := w.event()
	e.Values = append(Values(nil), e.Values...)
	return e
}

// tag returns the tag of a number; 0 is none.
func (w *world) tag(number polyfill.Tag) *Tag {
	if number == 0 {
		return nil
	}
	return w.made[number-1]
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

func (w *world) init(name string, v view, machine *polyfill.Machine, plan *polyfill.Plan) {
	w.name, w.view, w.machine, w.plan = name, v, machine, plan
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

// enter begins an operation. It panics unless the active computation calls it.
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
	w.message.put(values)
	return polyfill.Event{Tag: w.number(tag), Payload: typesOf(values)}
}

// number returns the number of a tag, 0 for nil.
func (w *world) number(tag *Tag) polyfill.Tag {
	if tag != nil && tag.world != w {
		return foreign
	}
	return tag.Number()
}

// foreign stands for the number of every tag of another system. No tag has this number.
const foreign = ^polyfill.Tag(0)

// settle carries out an operation after which the issuer goes on.
func (w *world) settle(trap polyfill.Trap) {
	if trap != polyfill.OK {
		w.refuse(trap)
	}
	w.reap()
}

// transfer carries out the plan of an operation, unless that was refused. When the issuer is entered again, it returns
// what has arrived. It panics with an exception that has arrived, or because the issuer is over.
//
// It is one function, and not several, because after a switch the processor mispredicts every return.
func (w *world) transfer(trap polyfill.Trap) Event {
	if trap != polyfill.OK {
		w.refuse(trap)
	}
	m, p := &w.message, w.plan
	if p.Delivers == polyfill.Nothing {
		return Event{Label: polyfill.Next}
	}
	if len(p.Ends) != 0 {
		w.reap()
	}
	from, target := w.current, w.at(p.To)
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
				w.current.start()
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
	return w.event()
}

// pulls reports whether a coroutine is to pull the running one: it is the root, or it waits for a fiber that it has
// entered.
func (w *world) pulls(c *coroutine) bool {
	return c == &w.root || w.machine.State(c.fiber) == polyfill.Busy
}

// start enters a coroutine for the first time.
func (c *coroutine) start() {
	c.next, c.stop = iter.Pull(c.run)
	c.next()
}

// Outside runs f on the goroutine of Call instead of the running fiber's. Only there can the embedder, for example,
// park the whole entry. Nothing else runs meanwhile, and f must not use the system.
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

// end carries out what follows the end of a function.
func (w *world) end(c *coroutine, results []Value, thrown *Exception, trap *Trap) {
	if c.dead {
		w.current = w.goal
		return
	}
	code := polyfill.OK
	switch {
	case trap != nil:
	case thrown != nil:
		code = w.view.Threw()
	default:
		code = w.view.Returned(typesOf(results))
	}
	if code != polyfill.OK {
		trap = w.trap(code)
	}
	if trap != nil {
		w.fail(trap)
		w.current = &w.root
	} else {
		w.message.put(results)
		w.message.exception = thrown
		w.current = w.at(w.plan.To)
	}
	w.table[c.fiber.Index()] = nil
}
