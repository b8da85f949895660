package actors

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Step does one turn of the wheel, see the package comment, and never waits. It
// reports whether the next step has something to do even if no time passes. It panics inside a step.
func (r *Runtime) Step() (more bool) {
	if r.inStep {
		panic("actors: Runtime.Step inside a step")
	}
	r.inStep = true
	ended := false
	defer func() {
		r.inStep = false
		if !ended { // a handler has ended the goroutine by Goexit
			r.machine.Unwind()
			r.running = nil
			r.Close()
		}
	}()
	woken := r.woken
	r.woken = r.scan()
	r.mail = false
	for _, a := range woken {
		if !a.over {
			r.run(a, func() (bool, error) { return a.fiber.enter() })
		}
	}
	r.deliver()
	ended = true
	return len(r.woken) > 0 || len(r.ready) > 0 || r.mail
}

// scan unblocks the guests whose condition is met and returns them in the order
// in which they go on: by deadline, and those without one last; then by ID.
func (r *Runtime) scan() (woken []*actor) {
	now := r.config.Clock.Now()
	r.blocked = slices.DeleteFunc(r.blocked, func(a *actor) bool {
		if a.over {
			return true
		}
		// Readiness is asked first: what is ready and late is ready.
		if a.until.ready != nil && a.until.ready() || a.until.timed && now >= a.until.deadline {
			a.blocked = false
			woken = append(woken, a)
			return true
		}
		return false
	})
	slices.SortFunc(woken, func(a, b *actor) int {
		if a.until.timed != b.until.timed {
			if a.until.timed {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.until.deadline, b.until.deadline), cmp.Compare(a.id, b.id))
	})
	return woken
}

// deliver gives one message to the first actor that is ready for one.
func (r *Runtime) deliver() {
	for len(r.ready) > 0 {
		a := r.ready[0]
		r.ready[0] = nil
		r.ready = r.ready[1:]
		a.queued = false
		if a.over {
			continue
		}
		m := a.take()
		a.handling = true
		r.run(a, func() (bool, error) {
			if a.fiber != nil {
				a.fiber.message = m
				return a.fiber.enter()
			}
			defer func() { a.handling = false }()
			return a.call(m)
		})
		return
	}
}

// run lets an actor run until its handler blocks or ends.
func (r *Runtime) run(a *actor, enter func() (alive bool, trap error)) {
	r.running = a
	alive, trap := enter()
	r.running = nil
	switch {
	case a.handling && !a.stopping:
		r.blocked = append(r.blocked, a)
	case a.handling, a.stopping, !alive:
		r.end(a, trap)
	default:
		r.enqueue(a)
	}
}

// pollInterval is how often Run looks whether something outside is ready.
const pollInterval = time.Millisecond

// Run steps until the condition is met, which it asks before each step. While
// no step could do anything it sleeps by the runtime's clock, to the next deadline or, if
// an actor waits for something outside, for a millisecond. It returns nil, or an [*IdleError] when
// the condition can never be met: no message is left, and no actor waits for anything but messages.
func (r *Runtime) Run(until func() bool) error {
	for !until() {
		if r.Step() {
			continue
		}
		d, ok := r.idle()
		if ok {
			r.config.Clock.Sleep(d)
		} else if !until() {
			return r.idleError()
		}
	}
	return nil
}

// idle returns for how long no step will do anything; ok is false if that is for ever.
func (r *Runtime) idle() (d time.Duration, ok bool) {
	now := r.config.Clock.Now()
	shorten := func(by time.Duration) {
		if by = max(0, by); !ok || by < d {
			d, ok = by, true
		}
	}
	for _, a := range r.blocked {
		if a.over {
			continue
		}
		if a.until.timed {
			shorten(a.until.deadline - now)
		}
		if a.until.ready != nil && !a.until.inside {
			shorten(pollInterval)
		}
	}
	return d, ok
}

func (r *Runtime) idleError() error {
	err := &IdleError{}
	slices.SortFunc(r.blocked, func(a, b *actor) int { return cmp.Compare(a.id, b.id) })
	for _, a := range r.blocked {
		if !a.over {
			err.Blocked = append(err.Blocked, fmt.Sprintf("%d waits for %s", a.id, a.until.what))
		}
	}
	return err
}
