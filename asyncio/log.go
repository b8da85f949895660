package asyncio

import "github.com/fiberfill/fiberfill/polyfill"

// Event is a kind of entry in the scheduler's log.
type Event uint8

const (
	Spawned   Event = iota + 1 // a fiber was made
	Notified                   // I/O of a fiber is complete and in the inbox
	Entered                    // the event loop entered the scheduler: a turn begins
	Resumed                    // a fiber was entered, for the first time or again
	Waited                     // the running fiber waits
	Yielded                    // the running fiber went to the end of the ready queue
	Finished                   // the running fiber ended
	Dropped                    // a fiber was ended before it ever ran
	Paused                     // control goes back to the event loop, with work outstanding
	Completed                  // control goes back to the event loop, with nothing left to do
	Begun                      // a fiber was made and entered at once, inside a call
)

var eventNames = [...]string{"", "spawned", "notified", "entered", "resumed", "waited", "yielded", "finished",
	"dropped", "paused", "completed", "begun"}

// String returns the event's name, the word that the documentation uses; for an unknown event "".
func (e Event) String() string {
	if int(e) < len(eventNames) {
		return eventNames[e]
	}
	return ""
}

// Record is one entry of the log. Fiber is null for events of the scheduler itself.
type Record struct {
	Event Event
	Fiber polyfill.Fiber
}

// StartLog empties the log and starts recording. Each event costs memory; recording is meant for tests and debugging.
func (s *Scheduler) StartLog() {
	s.logging = true
	s.log = s.log[:0]
}

// Log returns the events recorded since StartLog. The slice belongs to the scheduler and is valid until the next
// operation.
func (s *Scheduler) Log() []Record { return s.log }

//go:noinline
func (s *Scheduler) record(e Event, f polyfill.Fiber) {
	if s.logging {
		s.note(e, f)
	}
}

// note is separate from record so that record is small where it is inlined.
//
//go:noinline
func (s *Scheduler) note(e Event, f polyfill.Fiber) { s.log = append(s.log, Record{e, f}) }
