package asyncio

import "github.com/fiberfill/fiberfill/polyfill"

// Command is what the driver has to do next: run the fiber with this reference,
// or one of [Idle] and [TurnOver].
type Command = polyfill.Fiber

const (
	// Idle: nothing is ready. The driver gives control back to its event loop
	// and enters the scheduler again by Turn when Notify or Wanted asks for it,
	// and at the time that Deadline tells.
	Idle Command = 0
	// TurnOver: fibers are ready, but the turn's time is used up. The driver lets
	// its event loop do other work and then calls Turn.
	TurnOver Command = ^Command(0)
)

// Defaults of a Scheduler.
const (
	DefaultBudget    = 8    // ms a turn: half a frame, the other half is the page's
	DefaultSoftLimit = 1000 // fibers started at once
	DefaultHardLimit = 4000 // the same when it would otherwise stall
)

// stallTime is for how long, in ms, nothing must have moved before the limit grows.
const stallTime = 1000

// task is what the scheduler knows of a fiber beside its state.
type task struct {
	waits   uint32 // number of waits begun; the last one is the current one
	waiting bool   // for a Notify or a timer that has not come yet
}

// Scheduler names the fiber that runs next. See the package comment for its
// protocol and promises. Times are in milliseconds of one clock, which is the
// driver's. A Scheduler belongs to one thread of control.
type Scheduler struct {
	Machine polyfill.Machine

	tasks   []task // by Fiber.Index
	ready   queue[polyfill.Fiber]
	inbox   queue[polyfill.Fiber]
	timers  timers
	waiting queue[polyfill.Fiber] // spawned beyond the limit

	admitted  int32 // fibers that are started or in the ready queue for it
	limit     int32 // of admitted; grows from soft towards hard
	soft      int32
	hard      int32
	budget    float64
	turnEnd   float64
	moved     float64 // when a fiber was last entered
	scheduled bool    // the driver has been asked for a turn that has not begun

	logging bool
	log     []Record
}

// Init sets the limits: the time budget of a turn in milliseconds, how many
// fibers may be started at once (soft), and up to how many when nothing would
// move otherwise (hard). It is called once, before everything else.
func (s *Scheduler) Init(budget float64, soft, hard int32) {
	s.budget = budget
	s.soft, s.limit = soft, soft
	s.hard = max(soft, hard)
}

// Spawn makes a fiber. It starts in a later turn, or in this one if the
// scheduler is running, after all that is ready now. A fiber spawned by a
// running fiber may pass the soft limit, because its parent may be about to
// wait for it. Null: too many fibers are alive.
func (s *Scheduler) Spawn() polyfill.Fiber {
	f := s.Machine.New()
	if f == 0 {
		return 0
	}
	for f.Index() >= len(s.tasks) {
		s.tasks = append(s.tasks, task{})
	}
	s.tasks[f.Index()] = task{}
	s.record(Spawned, f)
	limit := s.limit
	if s.Machine.Active() != 0 {
		limit = s.hard
	}
	if s.admitted < limit {
		s.admitted++
		s.ready.push(f)
	} else {
		s.waiting.push(f)
	}
	return f
}

// Wait suspends the running fiber until its current wait is notified. The first
// wait of a fiber has the number 1, the next one 2, and so on. If the fiber has
// entered others, the whole chain below the scheduler waits as one.
func (s *Scheduler) Wait(now float64) Command {
	s.suspend(Waited).waiting = true
	return s.next(now)
}

// Sleep suspends the running fiber until the given time at the earliest, or
// until its current wait is notified.
func (s *Scheduler) Sleep(until, now float64) Command {
	leaf := s.Machine.Active()
	t := s.suspend(Waited)
	t.waiting = true
	s.timers.add(until, leaf, t.waits)
	return s.next(now)
}

// Yield sends the running fiber to the end of the ready queue. What is named
// next may be the same fiber.
func (s *Scheduler) Yield(now float64) Command {
	leaf := s.Machine.Active()
	s.suspend(Yielded)
	s.ready.push(leaf)
	return s.next(now)
}

// suspend takes the whole chain below the scheduler out of the machine and
// begins a wait of its leaf.
func (s *Scheduler) suspend(e Event) *task {
	leaf := s.Machine.Active()
	s.record(e, leaf)
	top := leaf
	for p := s.Machine.Parent(top); p != 0; p = s.Machine.Parent(top) {
		top = p
	}
	s.Machine.Detach(top)
	t := &s.tasks[leaf.Index()]
	t.waits++
	return t
}

// Finish ends the running fiber, whose function has returned or thrown. If
// another fiber had entered it, that one runs now. A trap ends the whole chain
// below the scheduler.
func (s *Scheduler) Finish(trap bool, now float64) Command {
	s.record(Finished, s.Machine.Active())
	if trap {
		s.Machine.Unwind()
	} else if parent, _ := s.Machine.Return(); parent != 0 {
		return parent
	}
	s.release()
	return s.next(now)
}

// release lets the first fiber that waits for a place have the one that has become free.
func (s *Scheduler) release() {
	s.admitted--
	s.admit()
}

func (s *Scheduler) admit() {
	for s.waiting.len() > 0 && s.admitted < s.limit {
		f := s.waiting.pop()
		if s.Machine.State(f) == polyfill.Suspended {
			s.admitted++
			s.ready.push(f)
		}
	}
}

// Drop ends a fiber that has never run and reports whether it did: a fiber that
// has started is left alone.
func (s *Scheduler) Drop(f polyfill.Fiber) bool {
	if s.Machine.State(f) != polyfill.Suspended || s.Machine.Started(f) {
		return false
	}
	s.record(Dropped, f)
	s.Machine.Kill(f) // its entry in a queue is skipped when it comes up
	return true
}

// Notify puts the completion of wait number n of f into the inbox. It reports
// whether that wait was still open: if not, the completion belongs to nobody
// and must be dropped (J-MUX-7). Ask Wanted afterwards.
func (s *Scheduler) Notify(f polyfill.Fiber, n uint32) bool {
	switch s.Machine.State(f) {
	case polyfill.Suspended, polyfill.Carried:
	default:
		return false
	}
	t := &s.tasks[f.Index()]
	if !t.waiting || t.waits != n {
		return false
	}
	t.waiting = false
	s.record(Notified, f)
	s.inbox.push(f)
	return true
}

// Wanted reports whether the driver has to schedule a turn: there is work, no
// fiber runs and no turn has been scheduled. It says so once.
func (s *Scheduler) Wanted() bool {
	if s.scheduled || s.Machine.Active() != 0 || s.ready.len()+s.inbox.len() == 0 {
		return false
	}
	s.scheduled = true
	return true
}

// Deadline returns when the next turn is due even if nothing is notified, in
// ms; ok is false when there is no such time.
func (s *Scheduler) Deadline() (at float64, ok bool) {
	if len(s.timers.heap) > 0 {
		at, ok = s.timers.heap[0].deadline, true
	}
	if s.waiting.len() > 0 && s.limit < s.hard {
		if stall := s.moved + stallTime; !ok || stall < at {
			at, ok = stall, true
		}
	}
	return at, ok
}

// Turn is the one way from the event loop into the scheduler (J-MUX-1). While a
// fiber runs it does nothing and returns Idle.
func (s *Scheduler) Turn(now float64) Command {
	s.scheduled = false
	if s.Machine.Active() != 0 {
		return Idle
	}
	s.turnEnd = now + s.budget
	s.record(Entered, 0)
	if s.waiting.len() > 0 && s.ready.len()+s.inbox.len() == 0 && now-s.moved >= stallTime {
		s.limit = min(s.hard, s.limit+s.limit/8+1)
		s.moved = now
		s.admit()
	}
	return s.next(now)
}

// next names the fiber that runs now.
func (s *Scheduler) next(now float64) Command {
	for len(s.timers.heap) > 0 && s.timers.heap[0].deadline <= now {
		t := s.timers.pop()
		s.Notify(t.fiber, t.wait)
	}
	for s.inbox.len() > 0 {
		s.ready.push(s.inbox.pop())
	}
	for s.ready.len() > 0 {
		if now >= s.turnEnd {
			s.scheduled = true
			s.record(Paused, 0)
			return TurnOver
		}
		f := s.ready.pop()
		top := s.top(f)
		if _, trap := s.Machine.Enter(top); trap != polyfill.OK {
			// Dropped before it ever ran: its place is free.
			s.release()
			continue
		}
		s.moved = now
		s.record(Resumed, f)
		return f
	}
	if s.Machine.Live() > 0 {
		s.record(Paused, 0)
	} else {
		s.record(Completed, 0)
	}
	return Idle
}

// top returns the fiber to enter so that control reappears in the suspended leaf f.
func (s *Scheduler) top(f polyfill.Fiber) polyfill.Fiber {
	for s.Machine.State(f) == polyfill.Carried {
		f = s.Machine.Parent(f)
	}
	return f
}
