package run

import (
	"errors"
	"slices"

	"github.com/fiberfill/fiberfill/polyfill"
)

// reap ends the coroutines of the fibers that the plan has ended. If the issuer is among them, it is unwound when it
// jumps, and after it the coroutines that pull it, from the inside out.
func (w *world) reap() {
	for _, f := range w.plan.Ends {
		w.kill(w.at(f))
	}
	w.plan.Ends = w.plan.Ends[:0]
}

// kill unwinds a coroutine that is over. Its deferred functions run, none of its other statements.
func (w *world) kill(c *coroutine) {
	c.dead = true
	if c != &w.root {
		w.table[c.fiber.Index()] = nil
	}
	if c == w.current || c.next == nil || c.pulling {
		return // a coroutine that pulls others is unwound after them
	}
	issuer, goal := w.current, w.goal
	w.current = c // its deferred functions are running now
	c.stop()
	w.current, w.goal = issuer, goal
}

// fail ends the whole live chain and the entry (K-9). An issuer in the chain is unwound by its own panic, and after it
// the coroutines that pull it.
func (w *world) fail(t *Trap) {
	if t != nil && errors.Is(t, ErrNoStack) {
		w.plan.Abandon(w.machine)
	} else {
		w.plan.Unwind(w.machine)
	}
	if t != nil {
		t.Chain = slices.Clone(w.plan.Ends)
	}
	w.reap()
	w.root.dead = true
	w.goal = &w.root
	w.failure = t
	w.message.exception = nil
}

// refuse makes the operation of the active computation trap. It does not return.
func (w *world) refuse(code polyfill.Trap) {
	w.fail(w.trap(code))
	if c := w.current; !c.dead { // it has been suspended, and the coroutine that it has entered has trapped (C-THROW-2)
		w.current = &w.root
		c.yield(struct{}{})
	}
	panic(unwinding{})
}

func (w *world) trap(code polyfill.Trap) *Trap {
	why := string(w.view.Explain(nil, code))
	return &Trap{Operation: w.view.Operation(), Fiber: w.current.name, Code: code, Rule: w.view.Rule(code), Why: why}
}

// call is the embedder's entry. It returns the results of f, or the exception that left it, or the trap that ended it.
func (w *world) call(f func() []Value) (results []Value, err error) {
	if w.current != nil {
		panic("polyfill/run: Call inside of a Call")
	}
	w.current, w.goal, w.failure, w.message.exception = &w.root, &w.root, nil, nil
	w.root.dead = false
	w.root.claim()
	if w.arrive != nil {
		w.arrive()
	}
	defer func() {
		if w.current != &w.root {
			w.fail(nil) // Goexit in a fiber
		}
		if w.leave != nil {
			w.leave()
		}
		w.current = nil
	}()
	results, thrown, trap := w.root.call(f)
	switch {
	case w.failure != nil:
		return nil, w.failure
	case trap != nil:
		w.fail(trap)
		w.current = &w.root
		return nil, trap
	case thrown != nil:
		return nil, thrown
	}
	return append([]Value(nil), results...), nil // they may be what f has received last
}

// Close ends all fibers that are left. It panics inside a Call. The system can be used again afterwards.
func (w *world) Close() {
	if w.current != nil {
		panic("polyfill/run: Close inside of a Call")
	}
	w.current = &w.root
	for _, c := range w.table {
		if c != nil {
			w.machine.Kill(c.fiber) // those that are carried end with their top
			w.kill(c)
		}
	}
	w.current = nil
}

// Live returns the number of fibers that are not over.
func (w *world) Live() int { return w.machine.Live() }

// State returns where a fiber stands. It may be asked by the active computation, or outside of Call.
func (w *world) State(f polyfill.Fiber) polyfill.State { return w.machine.State(f) }
