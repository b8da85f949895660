package actors

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/fiberfill/fiberfill/internal/wheel"
)

// Step does one turn of the wheel, see the package comment, and never waits. It reports whether the next step has
// something to do even if no time passes. It panics inside a step.
func (r *Runtime) Step() (more bool) {
	if r.inStep {
		panic("actors: Runtime.Step inside a step")
	}
	r.inStep = true
	ended := false
	defer func() {
		r.inStep = false
		if !ended { // a handler has ended the goroutine by Goexit
			r.wheel.Abort()
			r.Close()
		}
	}()
	r.look()
	r.wheel.Begin(r.now())
	for what, id := r.wheel.Next(); what != wheel.Over; what, id = r.wheel.Next() {
		r.run(what, r.actors[ID(id)])
	}
	ended = true
	return r.wheel.More()
}

// look asks whether what actors wait for outside is ready, and tells the wheel.
func (r *Runtime) look() {
	for _, id := range r.wheel.Blocked() {
		a := r.actors[ID(id)]
		if a == nil || a.ready == nil {
			continue
		}
		switch ready, trap := a.ask(); {
		case trap != nil:
			if r.wheel.Stop(id) == wheel.OK { // else it has stopped the actor, and then panicked
				r.end(a, trap)
			}
		case ready:
			a.ready = nil
			r.wheel.Ready(id, r.wheel.Waits(id))
		}
	}
}

// ask asks whether what the actor waits for is ready, and makes a panic a trap: it is the actor's, as if its handler
// had asked.
func (a *actor) ask() (ready bool, trap error) {
	defer func() {
		if v := recover(); v != nil {
			trap = &TrapError{a.id, v, debug.Stack()}
		}
	}()
	return a.ready(), nil
}

// run lets an actor run until its handler blocks or ends.
func (r *Runtime) run(what wheel.Command, a *actor) {
	a.ready = nil
	var alive bool
	var trap error
	switch {
	case what == wheel.Resume:
		alive, trap = a.fiber.enter()
	case a.fiber != nil:
		a.fiber.message = a.mailbox.Pop()
		alive, trap = a.fiber.enter()
	default:
		alive, trap = a.call(a.mailbox.Pop())
	}
	if r.wheel.Back(alive) {
		r.end(a, trap)
	}
}

// pollInterval is how often Run looks whether something outside is ready.
const pollInterval = time.Millisecond

// Run steps until the condition is met, which it asks before each step and each sleep. While no step could do anything
// it sleeps by the runtime's clock, to the next deadline or, if an actor waits for something outside, for a
// millisecond. It returns nil, or an [*IdleError] when the condition can never be met: no message is left, and no actor
// waits for anything but messages.
func (r *Runtime) Run(until func() bool) error {
	for !until() {
		if r.Step() || until() || r.wheel.More() { // the condition may have sent something
			continue
		}
		d, ok := r.wheel.Idle(r.now(), wheel.Time(pollInterval))
		if !ok {
			return r.idleError()
		}
		r.config.Clock.Sleep(time.Duration(d))
	}
	return nil
}

func (r *Runtime) idleError() error {
	err := &IdleError{}
	for _, id := range slices.Sorted(maps.Keys(r.actors)) {
		if info, _ := r.Info(id); info.Blocked {
			err.Blocked = append(err.Blocked, fmt.Sprintf("%d waits for %s", id, info.WaitsFor))
		}
	}
	return err
}
