package actors

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/fiberfill/fiberfill/internal/wheel"
)

// Step does one step, see the package comment. It never waits. It reports whether the next step has something to do
// even if no time passes. Step panics inside a step.
func (r *Runtime) Step() (more bool) {
	if r.inStep {
		panic("actors: Runtime.Step inside a step")
	}
	r.inStep = true
	ended := false
	defer func() {
		r.inStep = false
		if !ended { // a handler called Goexit
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

// look calls the ready functions of all waits for something outside, and tells the wheel which are ready.
func (r *Runtime) look() {
	for _, id := range r.wheel.Blocked() {
		a := r.actors[ID(id)]
		if a == nil || a.ready == nil {
			continue
		}
		switch ready, trap := a.ask(); {
		case trap != nil:
			if r.wheel.Stop(id) == wheel.OK { // otherwise ready has stopped the actor and then panicked
				r.end(a, trap)
			}
		case ready:
			a.ready = nil
			r.wheel.Ready(id, r.wheel.Waits(id))
		}
	}
}

// ask calls ready and turns a panic into a trap of the actor, as if its handler had panicked.
func (a *actor) ask() (ready bool, trap error) {
	defer func() {
		if v := recover(); v != nil {
			trap = &TrapError{a.id, v, debug.Stack()}
		}
	}()
	return a.ready(), nil
}

// run runs an actor until its handler blocks or ends.
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

// pollInterval is how often Run polls waits for something outside.
const pollInterval = time.Millisecond

// Run does steps until the condition until is met; it checks the condition before each step and each sleep. While no
// step could do anything, Run sleeps by the runtime's clock: to the next deadline or, if an actor waits for something
// outside, for at most a millisecond. It returns nil, or an [*IdleError] if no message is left and no actor waits for
// anything but messages.
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
