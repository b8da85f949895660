package wheel

// Command is what the substrate has to do.
type Command int32

const (
	Over   Command = iota // the step is over
	Enter                 // call the handler with the oldest message of the mailbox, which leaves it
	Resume                // let the blocking call return that the handler stands in
)

// Begin begins a step with the scan of those that are blocked (E-STEP-1). Whose condition is met is no longer blocked,
// and goes on in the next step. The step before must be over.
func (w *Wheel) Begin(now Time) {
	w.due, w.woken = w.woken, w.due[:0]
	w.at, w.given, w.come = 0, false, false
	blocked := w.blocked[:0]
	for _, id := range w.blocked {
		switch a := w.find(id); {
		case a == nil:
		case a.ready || a.cause == Mail && a.mail > 0 || a.timed && now >= a.deadline:
			a.blocked = false
			w.wake(a)
		default:
			blocked = append(blocked, id)
		}
	}
	w.blocked = blocked
}

// wake puts an actor where it belongs among those that go on: by deadline, those without one last; then by ID
// (E-STEP-4). Mostly that is the end; a library's sort would be a quarter of the wasm.
func (w *Wheel) wake(a *actor) {
	low, high := 0, len(w.woken)
	for low < high {
		middle := int(uint(low+high) / 2)
		if w.find(w.woken[middle]).before(a) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	w.woken = append(w.woken, 0)
	copy(w.woken[low+1:], w.woken[low:])
	w.woken[low] = a.id
}

func (a *actor) before(b *actor) bool {
	switch {
	case a.timed != b.timed:
		return a.timed
	case a.deadline != b.deadline:
		return a.deadline < b.deadline
	}
	return a.id < b.id
}

// Next returns what comes next in a step: those that the scan before has found are resumed, and then one message is
// delivered, to the actor that has been ready for one for longest. The actor runs until Back.
func (w *Wheel) Next() (Command, ID) {
	for w.at < len(w.due) {
		a := w.find(w.due[w.at])
		w.at++
		if a == nil {
			continue
		}
		if a.cause == Mail {
			a.mail--
		}
		return w.run(Resume, a)
	}
	for !w.given && w.ready.Len() > 0 {
		a := w.find(w.ready.Pop())
		if a == nil {
			continue
		}
		w.given = true
		a.queued, a.handling = false, true
		a.mail--
		return w.run(Enter, a)
	}
	w.given = true
	return Over, 0
}

func (w *Wheel) run(what Command, a *actor) (Command, ID) {
	w.running = a
	if a.fiber != 0 {
		if _, trap := w.Fibers.Enter(a.fiber); trap != 0 {
			panic("wheel: enter a fiber") // a mistake of this package
		}
	}
	return what, a.id
}

// Back tells that the actor that was running has given control back: it has parked, or its handler has ended and
// returned whether it stays alive; a trap counts as no. It reports whether the actor is over (E-LIFE-1); then the
// substrate drops its messages and its stack.
func (w *Wheel) Back(alive bool) (over bool) {
	a := w.running
	w.running = nil
	if a.fiber != 0 {
		w.Fibers.Detach(a.fiber)
	}
	if !a.blocked {
		a.handling = false
	}
	switch {
	case a.stopping, !a.blocked && !alive:
		w.end(a)
		return true
	case a.blocked:
		w.blocked = append(w.blocked, a.id)
	default:
		w.enqueue(a)
	}
	return false
}

// Abort tells that the running actor is gone and will not come back, stack and all, and that the step is over.
func (w *Wheel) Abort() {
	w.Fibers.Unwind()
	w.running, w.at, w.given = nil, len(w.due), true
}

// More reports whether the next step has something to do even if no time passes.
func (w *Wheel) More() bool { return len(w.woken) > 0 || w.ready.Len() > 0 || w.come }

// Idle returns for how long no step will do anything; ok is false if that is for ever. Where the substrate has to look
// whether things outside are ready, poll is how often; negative: it is told.
func (w *Wheel) Idle(now, poll Time) (d Time, ok bool) {
	shorten := func(by Time) {
		if by = max(0, by); !ok || by < d {
			d, ok = by, true
		}
	}
	for _, id := range w.blocked {
		a := w.find(id)
		if a == nil {
			continue
		}
		if a.timed {
			shorten(a.deadline - now)
		}
		if a.cause == Outside && poll >= 0 {
			shorten(poll)
		}
	}
	return d, ok
}

// Blocked returns those that are blocked, in the order in which they parked. Some may be over. The slice is good until
// the next step.
func (w *Wheel) Blocked() []ID { return w.blocked }
