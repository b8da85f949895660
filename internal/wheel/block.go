package wheel

// Answer is the wheel's answer to a blocking call.
type Answer int32

const (
	NotRunning Answer = -2 // the caller is not the running actor: a bug that the substrate reports
	Refused    Answer = -1 // the actor has no fiber: the call returns -1 at once (E-SLEEP-2)
	AtOnce     Answer = 0  // the call succeeds at once
	Park       Answer = 1  // the actor is blocked: the substrate suspends it and calls Back
)

// Sleep blocks an actor for at least ms milliseconds; zero or less means at least one step (E-SLEEP-3).
func (w *Wheel) Sleep(id ID, ms int32, now Time) Answer {
	return w.block(id, Timer, true, now+Time(max(0, ms))*Millisecond)
}

// Recv takes the oldest message out of the mailbox (E-RECV-2). At AtOnce the substrate takes the message out of its
// queue now, at Park when the actor is resumed.
func (w *Wheel) Recv(id ID) Answer {
	if a := w.running; a != nil && a.id == id && a.fiber != 0 && a.mail > 0 {
		a.mail--
		return AtOnce
	}
	return w.block(id, Mail, false, 0)
}

// Wait blocks an actor until Ready, for at most timeoutMs milliseconds; zero or less means no limit (E-FD-2). Result
// gives the result of the call.
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

// Waits returns how many waits an actor has begun, which is also the number of the last wait.
func (w *Wheel) Waits(id ID) uint32 {
	if a := w.find(id); a != nil {
		return a.waits
	}
	return 0
}

// Ready completes the given wait of an actor. The next scan sees it; if the wait has timed out in that scan too, it
// still succeeds (E-FD-3). Ready returns false, and does nothing, if the wait is over.
func (w *Wheel) Ready(id ID, wait uint32) bool {
	a := w.find(id)
	if a == nil || !a.blocked || a.cause != Outside || a.waits != wait {
		return false
	}
	a.ready, w.come = true, true
	return true
}

// Result returns the result of a resumed actor's blocking call: 0, or -1 for a wait that timed out (E-FD-1).
func (w *Wheel) Result(id ID) int32 {
	if a := w.find(id); a != nil && a.cause == Outside && !a.ready {
		return -1
	}
	return 0
}
