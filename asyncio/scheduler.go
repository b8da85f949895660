package asyncio

import (
	"math"

	"github.com/fiberfill/fiberfill/internal/queue"
	"github.com/fiberfill/fiberfill/polyfill"
)

// Command is what the driver has to do next: run the fiber with this reference, or one of [Idle] and [TurnOver].
type Command = polyfill.Fiber

const (
	// Idle: nothing is ready. The driver gives control back to its event loop and enters the scheduler again by Turn
	// when Notify or Wanted asks for it, and at the time that Deadline tells.
	Idle Command = 0
	// TurnOver: fibers are ready, but the turn's time is used up. The driver lets its event loop do other work and then
	// calls Turn.
	TurnOver Command = ^Command(0)
)

// DefaultBudget is the time budget of a turn, in milliseconds, that suits a page: half a frame, the other half is the
// page's. A [Loop] has it everywhere.
const DefaultBudget = 8

// stallTime is for how long, in ms, nothing must have moved before the limit grows.
const stallTime = 1000

// task is what the scheduler knows of a fiber beside its state.
type task struct {
	fiber   polyfill.Fiber
	waits   uint32 // number of waits begun; the last one is the current one
	waiting bool   // for a Notify or a timer that has not come yet
	begun   bool   // entered by Begin, and not suspended since
}

// Scheduler names the fiber that runs next. See the package comment for its protocol and promises. Times are in
// milliseconds of one clock, which is the driver's. A Scheduler belongs to one thread of control.
type Scheduler struct {
	Machine polyfill.Machine

	tasks   []task // by Fiber.Index
	ready   queue.Queue[polyfill.Fiber]
	inbox   queue.Queue[polyfill.Fiber]
	timers  timers
	waiting queue.Queue[polyfill.Fiber] // spawned beyond the limit; the first of them is alive

	admitted  int32 // fibers that are started or in the ready queue for it
	limit     int32 // of admitted; grows from soft towards hard
	hard      int32
	budget    float64
	turnEnd   float64
	moved     float64 // when a fiber was last entered
	scheduled bool    // the driver has been asked for a turn that has not begun
	stall     uint8   // at the hard limit: found, told
	returns   bool    // the step that has just been made goes back to the caller of Begin
	queued    bool    // a fiber has come to wait for a place since the last Idle

	logging bool
	log     []Record
}

// Init sets the time budget of a turn, in milliseconds, and the limits; see Limit. It is called once, before everything
// else.
func (s *Scheduler) Init(budget float64, soft, hard int32) {
	s.budget = budget
	s.Limit(soft, hard)
}

// Limit sets how many fibers may be started at once, and up to how many when nothing would move otherwise; both are at
// least 1. Fibers that are started stay so. Ask Wanted afterwards.
func (s *Scheduler) Limit(soft, hard int32) {
	s.limit = max(1, soft)
	s.hard = max(s.limit, hard)
	s.admit()
}

// Stalled reports that the limits have become a trap: as many fibers as may ever be are started, all of them wait,
// others wait for a place, and nothing has moved for a second. Only what is waited for from outside can still end it.
// It says so once, until something has moved. The driver asks after every Idle.
func (s *Scheduler) Stalled() bool {
	if s.stall != stallFound {
		return false
	}
	s.stall = stallTold
	return true
}

// What is known of a stall at the hard limit.
const (
	stallNone uint8 = iota
	stallFound
	stallTold
)

// Spawn makes a fiber. It starts in a later turn, or in this one if the scheduler is running, after all that is ready
// now. A fiber spawned by a running fiber may pass the soft limit, because its parent may be about to wait for it.
// Null: too many fibers are alive.
func (s *Scheduler) Spawn() polyfill.Fiber {
	f := s.Machine.New()
	if f == 0 {
		return 0
	}
	s.record(Spawned, f)
	limit := s.limit
	if s.Machine.Active() != 0 {
		limit = s.hard
	}
	if s.admitted < limit {
		s.admitted++
		s.ready.Push(f)
	} else {
		s.waiting.Push(f)
		s.queued = true
	}
	return f
}

// Begin makes a fiber and enters it at once, below whatever runs: the call that makes it runs its code, as
// WebAssembly.promising does. When it waits or ends for the first time, control goes back to that call, so the step
// returns Idle although its caller may be a running fiber; after that it is like any other. started is false if as many
// fibers as the hard limit allows are started: then it waits for its place and starts in a turn. Null: too many fibers
// are alive.
func (s *Scheduler) Begin() (f polyfill.Fiber, started bool) {
	if s.admitted >= s.hard {
		return s.Spawn(), false
	}
	f = s.Machine.New()
	if f == 0 {
		return 0, false
	}
	s.admitted++
	i := s.place(f)
	s.tasks[i].begun = true
	s.Machine.Enter(f)
	s.record(Begun, f)
	return f, true
}

// place returns which task is that of f, which is alive. A fiber need not come from Spawn: one that others have entered
// may wait, too.
func (s *Scheduler) place(f polyfill.Fiber) int {
	i := f.Index()
	if i >= len(s.tasks) || s.tasks[i].fiber != f {
		s.makeTask(f)
	}
	return i
}

// makeTask is seldom needed, and no part of place for the same reason as note.
//
//go:noinline
func (s *Scheduler) makeTask(f polyfill.Fiber) {
	for f.Index() >= len(s.tasks) {
		s.tasks = append(s.tasks, task{})
	}
	s.tasks[f.Index()] = task{fiber: f} // in the place of an earlier one
}

// Wait suspends the running fiber until its current wait is notified. The first wait of a fiber has the number 1, the
// next one 2, and so on; Sleep and Yield count as well. If the fiber has entered others, the whole chain below the
// scheduler waits as one. Wait, Sleep, Yield and Finish panic if no fiber runs.
func (s *Scheduler) Wait(now float64) Command {
	s.suspend(Waited, true)
	return s.after(now)
}

// Sleep suspends the running fiber until the given time at the earliest, or until its current wait is notified. A time
// that is not a number is now.
func (s *Scheduler) Sleep(until, now float64) Command {
	if until != until {
		until = now // in the heap it would hide the timers below it
	}
	i := s.suspend(Waited, true)
	s.timers.add(until, s.tasks[i].fiber)
	return s.after(now)
}

// Yield sends the running fiber to the end of the ready queue. What is named next may be the same fiber.
func (s *Scheduler) Yield(now float64) Command {
	i := s.suspend(Yielded, false)
	s.ready.Push(s.tasks[i].fiber)
	return s.after(now)
}

// after returns the command for what follows a step of a fiber.
func (s *Scheduler) after(now float64) Command {
	if s.returns {
		return Idle // back to the caller of Begin
	}
	return s.next(now)
}

// suspend takes the whole chain below the scheduler, or below the caller of Begin, out of the machine, begins a wait of
// its leaf, and returns which task that is. It sets returns. (Take its result before s.tasks, which it may move. Tasks
// are spoken of by their place: a pointer that lives across a call costs more in the core than what is done here.)
func (s *Scheduler) suspend(e Event, waiting bool) (leaf int) {
	f := s.running()
	s.record(e, f)
	leaf = s.place(f)
	top, i := f, leaf
	for !s.tasks[i].begun {
		p := s.Machine.Parent(top)
		if p == 0 {
			break
		}
		top, i = p, s.place(p)
	}
	s.returns = s.tasks[i].begun
	s.tasks[i].begun = false
	s.Machine.Detach(top)
	if len(s.timers.heap) > 0 {
		s.timers.remove(f)
	}
	s.tasks[leaf].waits++
	s.tasks[leaf].waiting = waiting
	return leaf
}

// running returns the running fiber. That there is none is a mistake of the driver, after which no count would be right
// any more.
func (s *Scheduler) running() polyfill.Fiber {
	f := s.Machine.Active()
	if f == 0 {
		panic("asyncio: a step of a fiber, but no fiber runs")
	}
	return f
}

// Finish ends the running fiber, whose function has returned or thrown. If another fiber had entered it, that one runs
// now. A trap ends the whole chain below the scheduler, or below the caller of Begin.
func (s *Scheduler) Finish(trap bool, now float64) Command {
	f := s.running()
	s.record(Finished, f)
	i := s.place(f)
	begun := s.tasks[i].begun
	parent, _ := s.Machine.Return()
	for trap && parent != 0 && !begun {
		i = s.place(parent)
		begun = s.tasks[i].begun
		parent, _ = s.Machine.Return()
	}
	if parent != 0 && !begun {
		return parent
	}
	s.release()
	s.returns = begun
	return s.after(now)
}

// release lets the first fiber that waits for a place have the one that has become free.
func (s *Scheduler) release() {
	s.admitted--
	s.admit()
}

func (s *Scheduler) admit() {
	for s.waiting.Len() > 0 {
		if s.Machine.State(s.waiting.First()) != polyfill.Suspended {
			s.waiting.Pop() // dropped meanwhile
			continue
		}
		if s.admitted >= s.limit {
			return
		}
		s.admitted++
		s.ready.Push(s.waiting.Pop())
	}
}

// mayStall reports whether fibers wait for a place, and something is to be done about it if nothing moves.
func (s *Scheduler) mayStall() bool {
	return s.waiting.Len() > 0 && (s.limit < s.hard || s.stall == stallNone)
}

// Drop ends a fiber that has never run and reports whether it did: a fiber that has started is left alone.
func (s *Scheduler) Drop(f polyfill.Fiber) bool {
	if s.Machine.State(f) != polyfill.Suspended || s.Machine.Started(f) {
		return false
	}
	s.record(Dropped, f)
	s.Machine.Kill(f) // its entry in a queue is skipped when it comes up
	s.admit()
	return true
}

// Notify puts the completion of wait number n of f into the inbox. It reports whether that wait was still open: if not,
// the completion belongs to nobody and must be dropped (J-MUX-7). Ask Wanted afterwards.
func (s *Scheduler) Notify(f polyfill.Fiber, n uint32) bool {
	switch s.Machine.State(f) {
	case polyfill.Suspended, polyfill.Carried:
	default:
		return false
	}
	i := s.place(f)
	t := &s.tasks[i]
	if !t.waiting || t.waits != n {
		return false
	}
	t.waiting = false
	s.timers.remove(f)
	s.record(Notified, f)
	s.inbox.Push(f)
	return true
}

// Wanted reports whether the driver has to schedule a turn: there is work, no fiber runs and no turn has been
// scheduled. It says so once. Work is also a new fiber that waits for a place: after the turn the driver asks for the
// Deadline, which there may not have been before.
func (s *Scheduler) Wanted() bool {
	if s.scheduled || s.Machine.Active() != 0 || s.ready.Len()+s.inbox.Len() == 0 && !s.queued {
		return false
	}
	s.scheduled = true
	return true
}

// Deadline returns when the next turn is due even if nothing is notified, in ms; ok is false when there is no such
// time. The driver asks after every Idle.
func (s *Scheduler) Deadline() (at float64, ok bool) {
	if len(s.timers.heap) > 0 {
		at, ok = s.timers.heap[0].deadline, true
	}
	if s.mayStall() {
		if stall := s.moved + stallTime; !ok || stall < at {
			at, ok = stall, true
		}
	}
	return at, ok
}

// Turn is the one way from the event loop into the scheduler (J-MUX-1). While a fiber runs it does nothing and returns
// Idle.
func (s *Scheduler) Turn(now float64) Command {
	s.scheduled = false
	if s.Machine.Active() != 0 {
		return Idle
	}
	s.record(Entered, 0)
	// The sum is the one that Deadline tells: a difference may round to less than stallTime for ever.
	if s.mayStall() && s.ready.Len()+s.inbox.Len() == 0 && now >= s.moved+stallTime {
		if s.limit == s.hard {
			s.stall = stallFound
		}
		s.limit = min(s.hard, s.limit+s.limit/8+1)
		s.moved = now
		s.admit()
	}
	// One fiber runs however small the budget is: turns that do nothing would follow each other for ever.
	s.turnEnd = math.MaxFloat64
	command := s.next(now)
	s.turnEnd = now + s.budget
	return command
}

// next names the fiber that runs now.
func (s *Scheduler) next(now float64) Command {
	for len(s.timers.heap) > 0 && s.timers.heap[0].deadline <= now {
		f := s.timers.pop()
		s.Notify(f, s.tasks[f.Index()].waits)
	}
	for s.inbox.Len() > 0 {
		s.ready.Push(s.inbox.Pop())
	}
	for s.ready.Len() > 0 {
		if now >= s.turnEnd {
			s.scheduled = true
			s.record(Paused, 0)
			return TurnOver
		}
		f := s.ready.Pop()
		trap := s.Machine.Resume(f)
		if trap == polyfill.NotSuspended {
			trap = s.Machine.Resume(s.top(f)) // it was carried
		}
		if trap != polyfill.OK {
			// Dropped before it ever ran: its place is free.
			s.release()
			continue
		}
		s.moved = now
		s.stall = stallNone
		s.record(Resumed, f)
		return f
	}
	s.queued = false
	// Not Machine.Live: a suspended fiber that its maker has abandoned is not outstanding.
	if int(s.admitted)+s.waiting.Len() > 0 {
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
