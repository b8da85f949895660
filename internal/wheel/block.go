package wheel

// Answer is what a blocking call is told.
type Answer int32

const (
	NotRunning Answer = -2 // the caller is not the actor that runs: a mistake of the caller, who has to say so
	Refused    Answer = -1 // the actor has no fiber: the call returns -1 at once (E-SLEEP-2)
	AtOnce     Answer = 0  // the call succeeds at once
	Park       Answer = 1  // the actor is blocked: the substrate suspends it and calls Back
)

// Sleep blocks an actor for ms milliseconds; less than none are none, and none are a step (E-SLEEP-3).
func (w *Wheel) Sleep(id ID, ms int32, now Time) Answer {
	return w.block(id, Timer, true, now+Time(max(0, ms))*Millisecond)
}

// Recv takes the oldest message out of the mailbox (E-RECV-2), at AtOnce now, after Park when the actor is resumed: the
// substrate takes it out of its queue then.
func (w *Wheel) Recv(id ID) Answer {
	if a := w.running; a != nil && a.id == id && a.fiber != 0 && a.mail > 0 {
		a.mail--
		return AtOnce
	}
	return w.block(id, Mail, false, 0)
}

// Wait blocks an actor until Ready, for timeoutMs milliseconds at most; zero or less is for ever (E-FD-2). What the
// call returns then is Result.
func (w *Wheel) Wait(id ID, timeoutMs int32, now Time) Answer {
	if timeoutMs <= 0 {
		return w.block(id, Outside, false, 0)
	}
	return w.block(id, Outside, true, now+Time(timeoutMs)*Millisecond)
}

func (w *Wheel) block(id ID, cause Cause, timed bool, deadline Time) Answer {
	a := w.running
	if a == nil || a.id != id {
		return NotRunning
	}
	if a.fiber == 0 {
		return Refused
	}
	a.blocked, a.cause, a.ready, a.timed, a.deadline = true, cause, false, timed, deadline
	a.waits++
	return Park
}

// Waits returns how many waits an actor has begun, which is the number of the last one.
func (w *Wheel) Waits(id ID) uint32 {
	if a := w.find(id); a != nil {
		return a.waits
	}
	return 0
}

// Ready tells that what the given wait of an actor is for is ready. It counts if the next scan sees it: if the time is
// over in that scan too, the wait has succeeded (E-FD-3). For a wait that is over it does nothing. It reports whether
// it counts.
func (w *Wheel) Ready(id ID, wait uint32) bool {
	a := w.find(id)
	if a == nil || !a.blocked || a.cause != Outside || a.waits != wait {
		return false
	}
	a.ready, w.come = true, true
	return true
}

// Result returns what the blocking call of a resumed actor returns: 0, or -1 for a wait whose time was over first
// (E-FD-1).
func (w *Wheel) Result(id ID) int32 {
	if a := w.find(id); a != nil && a.cause == Outside && !a.ready {
		return -1
	}
	return 0
}
