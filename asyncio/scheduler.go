package asyncio

import (
	"math"

	"github.com/fiberfill/fiberfill/internal/queue"
	"github.com/fiberfill/fiberfill/polyfill"
)

// Command tells the driver what to do next: run the fiber with this reference, or [Idle], or [TurnOver].
type Command uint32

const (
	// Idle: nothing is ready. The driver gives control back to its event loop. It calls Turn when Wanted asks for it,
	// and at the time that Deadline returns.
	Idle Command = 0
	// TurnOver: fibers are ready, but the turn's time is used up. The driver lets its event loop do other work, and
	// then calls Turn.
	TurnOver Command = ^Command(0)
)

// Fiber returns who runs next. The command must be to run a fiber.
func (c Command) Fiber() polyfill.Fiber { return polyfill.Fiber(c) }

// DefaultBudget is the time budget of a turn, in milliseconds: half a frame, which leaves the other half to the page.
// Every [Loop] uses it, outside pages too.
const DefaultBudget = 8

// stallTime is how long, in ms, nothing may move before the limit grows.
const stallTime = 1000

// task is what the scheduler knows of a fiber apart from its state.
type task struct {
	fiber   polyfill.Fiber
	waits   uint32 // number of waits begun; the last is the current one
	waiting bool   // for a Notify or a timer that has not come
	begun   bool   // entered by Begin, and not suspended since
}

// Scheduler names the fiber that runs next. The package comment describes its protocol and promises. Times are in
// milliseconds of the driver's clock. A Scheduler belongs to one thread of control. Call Init first.
type Scheduler struct {
	Machine polyfill.Machine

	tasks   []task // by Fiber.Index
	ready   queue.Queue[polyfill.Fiber]
	inbox   queue.Queue[polyfill.Fiber]
	timers  timers
	waiting queue.Queue[polyfill.Fiber] // spawned beyond the limit; the first is alive

	admitted  int32 // fibers that have started, or are in the ready queue to start
	limit     int32 // of admitted; grows from soft towards hard
	hard      int32
	budget    float64
	turnEnd   float64
	moved     float64 // when a fiber was last entered
	scheduled bool    // a turn was requested and has not begun
	stall     uint8   // at the hard limit: stallNone, stallFound, stallTold
	returns   bool    // the last step returns to the caller of Begin
	queued    bool    // a fiber started waiting for a place since the last Idle

	logging bool
	log     []Record
}

// Init sets the time budget of a turn, in milliseconds, and the limits, see Limit. Call it once, before anything else.
func (s *Scheduler) Init(budget float64, soft, hard int32) {
	s.budget = budget
	s.Limit(soft, hard)
}

// Limit sets how many fibers may be started at once: normally soft, and up to hard when nothing would move otherwise.
// Both are raised to at least 1. Fibers that have started are not affected. Ask Wanted afterwards.
//
//go:noinline
func (s *Scheduler) Limit(soft, hard int32) {
	s.limit = max(1, soft)
	s.hard = max(s.limit, hard)
	s.admit()
}

// Stalled reports that the limits block progress: the hard limit is reached, every started fiber waits, further fibers
// wait for a place, and nothing has moved for a second. Only an event from outside can end the stall. Stalled reports
// each stall once. The driver asks after every Idle.
func (s *Scheduler) Stalled() bool {
	if s.stall != stallFound {
		return false
	}
	s.stall = stallTold
	return true
}

// The states of a stall at the hard limit.
const (
	stallNone uint8 = iota
	stallFound
	stallTold
)

// Spawn makes a fiber. It starts after all fibers that are ready now: in this turn if a turn is under way, else in a
// later one. A fiber spawned by a running fiber may pass the soft limit, because its parent may be about to wait for
// it. Spawn returns null if too many fibers are alive.
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

// Begin makes a fiber and enters it at once, below whatever runs. The caller runs the fiber's code inside its own call,
// as WebAssembly.promising does. At the fiber's first wait, or its end, control goes back to that caller: the step
// returns Idle, although the caller may be a running fiber. From then on the fiber is like any other. started is false
// if the hard limit is reached; the fiber then waits for a place and starts in a turn. Begin returns null if too many
// fibers are alive.
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
	s.Machine.Link(f)
	s.record(Begun, f)
	return f, true
}

// place returns the index of f's task. f must be alive. It need not come from Spawn: a fiber that another fiber entered
// may wait, too.
func (s *Scheduler) place(f polyfill.Fiber) int {
	i := f.Index()
	if i >= len(s.tasks) || s.tasks[i].fiber != f {
		s.makeTask(f)
	}
	return i
}

// makeTask is seldom needed. It is separate from place so that place is small where it is inlined.
//
//go:noinline
func (s *Scheduler) makeTask(f polyfill.Fiber) {
	for f.Index() >= len(s.tasks) {
		s.tasks = append(s.tasks, task{})
	}
	s.tasks[f.Index()] = task{fiber: f} // an earlier fiber may have had the index
}

// Wait suspends the running fiber until its current wait is notified. A fiber's waits are numbered from 1; Sleep and
// Yield count as well. If other fibers have entered the running one, the whole chain below the scheduler waits. Wait,
// Sleep, Yield and Finish panic if no fiber runs.
func (s *Scheduler) Wait(now float64) Command {
	s.suspend(Waited, true)
	return s.after(now)
}

// Sleep suspends the running fiber until the given time at the earliest, or until its current wait is notified. NaN
// means now.
func (s *Scheduler) Sleep(until, now float64) Command {
	if until != until {
		until = now // a NaN in the heap would hide the timers below it
	}
	i := s.suspend(Waited, true)
	s.timers.add(until, s.tasks[i].fiber)
	return s.after(now)
}

// Yield sends the running fiber to the end of the ready queue. The command may name the same fiber again.
func (s *Scheduler) Yield(now float64) Command {
	// Fibers that take turns, while nothing else can be due, are exchanged in one step. In the core, in Node, that
	// takes 10 ns instead of 16.
	if s.ready.Len() > 0 && now < s.turnEnd && s.inbox.Len()+len(s.timers.heap) == 0 && !s.logging {
		f, next := s.running(), s.ready.First()
		i := s.place(f)
		if t := &s.tasks[i]; !t.begun && s.Machine.Exchange(next) {
			t.waits++
			t.waiting = false
			s.ready.Rotate(f)
			s.moved = now
			return Command(next)
		}
	}
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

// suspend detaches the whole chain below the scheduler, or below the caller of Begin, begins a wait of its leaf, and
// returns the index of the leaf's task. It sets returns. It may move s.tasks. (Tasks are passed by index: a pointer
// that lives across a call costs more in the core than all the work here.)
func (s *Scheduler) suspend(e Event, waiting bool) (leaf int) {
	f := s.running()
	if s.logging {
		s.note(e, f)
	}
	leaf = s.place(f)
	top, i := f, leaf
	for !s.tasks[i].begun {
		p := s.Machine.Above(top)
		if p == 0 {
			break
		}
		top, i = p, s.place(p)
	}
	s.returns = s.tasks[i].begun
	s.tasks[i].begun = false
	s.Machine.Unlink(top)
	if len(s.timers.heap) > 0 {
		s.timers.remove(f)
	}
	s.tasks[leaf].waits++
	s.tasks[leaf].waiting = waiting
	return leaf
}

// running returns the running fiber. It panics if there is none: that is a bug in the driver, and every count would be
// wrong afterwards.
func (s *Scheduler) running() polyfill.Fiber {
	f := s.Machine.Active()
	if f == 0 {
		panic("asyncio: a step of a fiber, but no fiber runs")
	}
	return f
}

// Finish ends the running fiber, whose function has returned or thrown. If another fiber entered it, that fiber runs
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
		return Command(parent)
	}
	s.release()
	s.returns = begun
	return s.after(now)
}

// release frees a place and hands it to the first fiber that waits for one.
//
//go:noinline
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

// mayStall reports whether fibers wait for a place, and Turn or Stalled has to act if nothing moves.
//
//go:noinline
func (s *Scheduler) mayStall() bool {
	return s.waiting.Len() > 0 && (s.limit < s.hard || s.stall == stallNone)
}

// Drop ends a fiber that has never run, and reports whether it did. A fiber that has started is left alone.
func (s *Scheduler) Drop(f polyfill.Fiber) bool {
	if s.Machine.State(f) != polyfill.Suspended || s.Machine.Started(f) {
		return false
	}
	s.record(Dropped, f)
	s.Machine.Kill(f) // its entry in a queue is skipped when it comes up
	s.admit()
	return true
}

// Notify puts the completion of f's wait number n into the inbox. It returns false if that wait is over; the driver
// must then drop the completion (J-MUX-7). Ask Wanted afterwards.
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

// Wanted reports whether the driver must schedule a turn: there is work, no fiber runs, and no turn is scheduled. It
// returns true once per turn. A new fiber that waits for a place counts as work, because it may bring a Deadline, which
// the driver asks for after the turn.
func (s *Scheduler) Wanted() bool {
	if s.scheduled || s.Machine.Active() != 0 || s.ready.Len()+s.inbox.Len() == 0 && !s.queued {
		return false
	}
	s.scheduled = true
	return true
}

// Deadline returns the time, in ms, when the next turn is due even if nothing is notified. ok is false if there is
// none. The driver asks after every Idle.
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

// Turn is the only way from the event loop into the scheduler (J-MUX-1). While a fiber runs, it does nothing and
// returns Idle.
func (s *Scheduler) Turn(now float64) Command {
	s.scheduled = false
	if s.Machine.Active() != 0 {
		return Idle
	}
	s.record(Entered, 0)
	// The same sum as in Deadline: a difference may round to less than stallTime for ever.
	if s.mayStall() && s.ready.Len()+s.inbox.Len() == 0 && now >= s.moved+stallTime {
		if s.limit == s.hard {
			s.stall = stallFound
		}
		s.limit = min(s.hard, s.limit+s.limit/8+1)
		s.moved = now
		s.admit()
	}
	// One fiber runs however small the budget is. Otherwise turns that do nothing could follow each other for ever.
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
		top := f
		state := s.Machine.State(f)
		for state == polyfill.Carried {
			top = s.Machine.Above(top)
			state = s.Machine.State(top)
		}
		if state != polyfill.Suspended {
			// f was dropped before it ever ran: its place is free.
			s.release()
			continue
		}
		s.Machine.Link(top)
		s.moved = now
		s.stall = stallNone
		if s.logging {
			s.note(Resumed, f)
		}
		return Command(f)
	}
	s.queued = false
	// Not Machine.Live: a suspended fiber that its maker abandoned is not outstanding.
	if int(s.admitted)+s.waiting.Len() > 0 {
		s.record(Paused, 0)
	} else {
		s.record(Completed, 0)
	}
	return Idle
}
