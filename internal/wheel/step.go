package wheel

// Command tells the substrate what to do.
type Command int32

const (
	Over   Command = iota // the step is over
	Enter                 // take the oldest message out of the mailbox and call the handler with it
	Resume                // let the handler's blocking call return
)

// Begin begins a step by scanning the blocked actors (E-STEP-1). An actor whose condition is met is no longer blocked;
// it goes on in the next step. The step before must be over.
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

// wake inserts an actor into woken, which is sorted by deadline, actors without one last, and then by ID (E-STEP-4). It
// is inserted by hand because a library's sort would be a quarter of the wasm.
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

// Next returns the next command of a step. First it resumes the actors that the previous scan found; then it delivers
// one message, to the actor that has been ready longest. The actor runs until Back.
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
			panic("wheel: enter a fiber") // a bug in this package
		}
	}
	return what, a.id
}

// Back tells the wheel that the running actor has given control back: it has parked, or its handler has ended. alive is
// the handler's result; after a trap it is false. Back reports whether the actor is over (E-LIFE-1); if so, the
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

// Abort tells the wheel that the running actor is lost, with its stack, and that the step is over.
func (w *Wheel) Abort() {
	w.Fibers.Unwind()
	w.running, w.at, w.given = nil, len(w.due), true
}

// More reports whether the next step has something to do even if no time passes.
func (w *Wheel) More() bool { return len(w.woken) > 0 || w.ready.Len() > 0 || w.come }

// Idle returns how long no step will do anything. ok is false if no deadline ends that time. poll is how often the
// substrate polls waits for something outside; negative if it does not poll but is told.
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

// Blocked returns the blocked actors, in the order in which they parked. Some may be over. The slice is valid until the
// next step.
func (w *Wheel) Blocked() []ID { return w.blocked }
