package schedtest

import (
	"math"
	"sort"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/polyfill"
)

// stage is a driver: it owns the fibers' code (lists of steps), the clock, the outstanding I/O, and the event loop.
type stage struct {
	*testing.T
	core    Core
	now     float64
	names   map[polyfill.Fiber]string
	scripts map[polyfill.Fiber][]step
	waits   map[polyfill.Fiber]uint32
	io      []request // sorted by completion time
	over    bool      // the last command was TurnOver
	turns   int
	from    int // start of the part of the log that the test looks at
}

// step is a piece of a fiber's code. It returns the core's next command, or the fiber itself if the fiber goes on.
type step func(s *stage, f polyfill.Fiber) asyncio.Command

// request is outstanding I/O. It completes at a given time, for one wait of one fiber.
type request struct {
	at    float64
	fiber polyfill.Fiber
	wait  uint32
}

func newStage(t *testing.T, core Unused) *stage {
	s := &stage{T: t, core: core,
		names:   map[polyfill.Fiber]string{},
		scripts: map[polyfill.Fiber][]step{},
		waits:   map[polyfill.Fiber]uint32{},
	}
	s.init(asyncio.DefaultBudget, 1000, 4000) // limits above the fibers of most scenarios
	core.StartLog()
	return s
}

func (s *stage) init(budget float64, soft, hard int32) { s.core.Init(budget, soft, hard) }

func (s *stage) spawn(name string, script ...step) polyfill.Fiber {
	s.Helper()
	f := s.core.Spawn()
	if f == 0 {
		s.Fatalf("Spawn() = null for %s", name)
	}
	s.names[f], s.scripts[f] = name, script
	return f
}

// --- steps

// fetch waits for a request that takes ms.
func fetch(ms float64) step {
	return func(s *stage, f polyfill.Fiber) asyncio.Command {
		s.waits[f]++
		s.io = append(s.io, request{s.now + ms, f, s.waits[f]})
		sort.SliceStable(s.io, func(i, j int) bool { return s.io[i].at < s.io[j].at })
		return s.core.Wait(s.now)
	}
}

// stuck waits for something that never comes.
func stuck(s *stage, f polyfill.Fiber) asyncio.Command {
	s.waits[f]++
	return s.core.Wait(s.now)
}

func yield(s *stage, f polyfill.Fiber) asyncio.Command {
	s.waits[f]++
	return s.core.Yield(s.now)
}

func sleep(ms float64) step {
	return func(s *stage, f polyfill.Fiber) asyncio.Command {
		s.waits[f]++
		return s.core.Sleep(s.now+ms, s.now)
	}
}

// spend computes for ms.
func spend(ms float64) step {
	return func(s *stage, f polyfill.Fiber) asyncio.Command {
		s.now += ms
		return asyncio.Command(f)
	}
}

func do(what func()) step {
	return func(s *stage, f polyfill.Fiber) asyncio.Command {
		what()
		return asyncio.Command(f)
	}
}

// trap ends the fiber as a trap does.
func trap(s *stage, f polyfill.Fiber) asyncio.Command { return s.core.Finish(true, s.now) }

// --- the driver

// obey runs the fibers that the core names until it names none.
func (s *stage) obey(c asyncio.Command) {
	for c != asyncio.Idle && c != asyncio.TurnOver {
		f := c.Fiber()
		script, known := s.scripts[f]
		if !known {
			s.Fatalf("the core names %#x, a fiber that it never made", f)
		}
		if len(script) == 0 {
			c = s.core.Finish(false, s.now)
			continue
		}
		s.scripts[f] = script[1:]
		c = script[0](s, f)
	}
	s.over = c == asyncio.TurnOver
}

func (s *stage) turn() {
	if s.turns++; s.turns > 20_000 {
		s.Fatalf("the scheduler spins: %d turns, at %v ms", s.turns, s.now)
	}
	s.obey(s.core.Turn(s.now))
}

// settle notifies the core of all I/O completed by now, in the order of completion.
func (s *stage) settle() {
	for len(s.io) > 0 && s.io[0].at <= s.now {
		r := s.io[0]
		s.io = s.io[1:]
		if !s.core.Notify(r.fiber, r.wait) {
			s.Fatalf("at %v ms: wait %d of %s is refused", s.now, r.wait, s.names[r.fiber])
		}
	}
}

// wake has the event loop handle what is due now, and nothing else.
func (s *stage) wake() {
	s.settle()
	for s.over || s.core.Wanted() {
		s.turn()
	}
	if at, ok := s.core.Deadline(); ok && at <= s.now {
		s.turn()
	}
}

// loop is the event loop: it ends when nothing is scheduled, due or outstanding.
func (s *stage) loop() {
	for range 100_000 {
		s.wake()
		at := math.Inf(1)
		if len(s.io) > 0 {
			at = s.io[0].at
		}
		if due, ok := s.core.Deadline(); ok {
			at = min(at, due)
		}
		if math.IsInf(at, 1) {
			if !s.over {
				return
			}
			at = s.now
		}
		s.now = max(s.now, at)
	}
	s.Fatalf("the event loop does not end, at %v ms", s.now)
}

// --- what the scheduler did

// mark makes the test look only at the log from here on. judge still checks the whole log.
func (s *stage) mark() { s.from = len(s.core.Log()) }

// log returns the log since the last mark.
func (s *stage) log() []asyncio.Record { return s.core.Log()[s.from:] }

// text returns the log in words, with a line for every return to the event loop.
func (s *stage) text() string {
	var lines []string
	var line []string
	for _, r := range s.log() {
		word := r.Event.String()
		if r.Fiber != 0 {
			word += " " + s.names[r.Fiber]
		}
		line = append(line, word)
		if r.Event == asyncio.Paused || r.Event == asyncio.Completed {
			lines, line = append(lines, strings.Join(line, ", ")), nil
		}
	}
	if line != nil {
		lines = append(lines, strings.Join(line, ", "))
	}
	return strings.Join(lines, "\n")
}

// tail returns the end of a log, short enough to read.
func tail(text string) string {
	if len(text) > 3000 {
		return "..." + text[len(text)-3000:]
	}
	return text
}

func (s *stage) wantLog(lines ...string) {
	s.Helper()
	if got, want := s.text(), strings.Join(lines, "\n"); got != want {
		s.Errorf("log:\n%s\n\nwant:\n%s", tail(got), want)
	}
}

// order returns the names of the fibers that had an event of the given kind, in order.
func (s *stage) order(e asyncio.Event) string {
	var names []string
	for _, r := range s.log() {
		if r.Event == e {
			names = append(names, s.names[r.Fiber])
		}
	}
	return strings.Join(names, " ")
}

func (s *stage) count(e asyncio.Event) (n int) {
	for _, r := range s.log() {
		if r.Event == e {
			n++
		}
	}
	return n
}

func (s *stage) wantOrder(e asyncio.Event, want string) {
	s.Helper()
	if got := s.order(e); got != want {
		s.Errorf("%v: %s, want %s", e, got, want)
	}
}

func (s *stage) wantDeadline(want float64, wantOK bool) {
	s.Helper()
	if at, ok := s.core.Deadline(); ok != wantOK || ok && at != want {
		s.Errorf("Deadline() = %v, %v, want %v, %v", at, ok, want, wantOK)
	}
}

func (s *stage) wantLive(want int) {
	s.Helper()
	if got := s.core.Live(); got != want {
		s.Errorf("%d fibers are alive, want %d", got, want)
	}
}

// wantBool compares an answer; what names it in the message.
func (s *stage) wantBool(what string, got, want bool) {
	s.Helper()
	if got != want {
		s.Errorf("%s = %v, want %v", what, got, want)
	}
}
