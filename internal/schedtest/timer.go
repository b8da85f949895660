package schedtest

import (
	"fmt"
	"math"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/polyfill"
)

var timerTests = []test{
	{"timers: the earliest deadline first, whatever the order of the sleeps", func(s *stage) {
		for i := range 50 {
			s.spawn(fmt.Sprint(i*37%50), sleep(float64(10+i*37%50)))
		}
		s.wake()
		s.wantDeadline(10, true)
		s.now = 1000 // all expire at once: the heap alone decides
		s.wake()
		want := ""
		for i := range 50 {
			want += fmt.Sprint(i) + " "
		}
		s.wantOrder(asyncio.Finished, want[:len(want)-1])
	}},
	{"timers: of equal deadlines the timer made first expires first", func(s *stage) {
		want := ""
		for i := range 40 {
			s.spawn(fmt.Sprint(i), sleep(10))
			want += fmt.Sprint(i) + " "
		}
		s.loop()
		s.wantOrder(asyncio.Finished, want[:len(want)-1])
	}},
	{"timers: expire at their time, not before", func(s *stage) {
		s.spawn("a", sleep(10))
		s.wake()
		s.wantDeadline(10, true)
		s.now = 9.999
		s.turn()
		s.wantOrder(asyncio.Finished, "")
		s.now = 10
		s.turn()
		s.wantOrder(asyncio.Finished, "a")
		s.wantDeadline(0, false)
	}},
	{"timers: sleeping until now, or the past, is a yield", func(s *stage) {
		s.now = 100
		s.spawn("a", sleep(0), sleep(-50), sleep(math.Inf(-1)))
		s.spawn("b", yield, yield, yield)
		s.loop()
		s.wantOrder(asyncio.Resumed, "a b a b a b a b")
		if s.now != 100 {
			s.Errorf("time has passed: %v", s.now)
		}
	}},
	{"timers: a time that is NaN does not hide the others", func(s *stage) {
		s.spawn("a", sleep(math.NaN()))
		s.spawn("b", sleep(10))
		s.loop()
		s.wantOrder(asyncio.Finished, "a b")
	}},
	{"timers: a timer at infinity stays", func(s *stage) {
		s.spawn("a", sleep(math.Inf(1)))
		s.spawn("b", sleep(10))
		s.loop()
		s.wantOrder(asyncio.Finished, "b")
		s.wantLive(1)
	}},
	{"timers: a timer that expires during a turn wakes its fiber in that turn", func(s *stage) {
		s.spawn("a", sleep(2))
		s.spawn("b", spend(3), yield)
		s.loop()
		s.wantLog("spawned a, spawned b, entered, resumed a, waited a, resumed b, yielded b, notified a, resumed b, " +
			"finished b, resumed a, finished a, completed")
	}},
	{"timers: a notification ends a sleep, and its timer goes with it", func(s *stage) {
		f := s.spawn("f", sleep(1000), stuck)
		s.spawn("g", sleep(2000))
		s.wake()
		s.wantDeadline(1000, true)
		s.wantBool("Notify(f, 1)", s.core.Notify(f, 1), true)
		s.wantDeadline(2000, true)
		s.loop()
		s.wantLog("spawned f, spawned g, entered, resumed f, waited f, resumed g, waited g, paused",
			"notified f, entered, resumed f, waited f, paused",
			"entered, notified g, resumed g, finished g, paused")
	}},
	{"timers J-MUX-10: a timeout that was not needed does not keep the event loop awake", func(s *stage) {
		f := s.spawn("f", sleep(3_600_000))
		s.wake()
		s.core.Notify(f, 1)
		s.loop()
		s.wantDeadline(0, false)
		if s.now != 0 || s.count(asyncio.Completed) != 1 {
			s.Errorf("at %v ms, completed %d times; want 0 and once", s.now, s.count(asyncio.Completed))
		}
	}},
	{"timers: a timer wakes only its own wait, not a later one, nor the next fiber in that place", func(s *stage) {
		f := s.spawn("f", sleep(10), sleep(100))
		s.wake()
		s.core.Notify(f, 1)
		s.wake() // sleeps until 100
		s.now = 50
		s.turn()
		s.wantOrder(asyncio.Finished, "")
		s.core.Notify(f, 2)
		s.wake()
		s.wantOrder(asyncio.Finished, "f")
		s.spawn("g", stuck)
		s.wake()
		s.now = 200
		s.turn()
		s.wantOrder(asyncio.Finished, "f")
	}},
	{"timers: thousands made, ended early and made again, compared with a plain list", func(s *stage) {
		const n = 50
		random := newRandom(s.T)
		due := map[polyfill.Fiber]float64{}
		var fibers []polyfill.Fiber
		var again step
		again = func(s *stage, f polyfill.Fiber) asyncio.Command {
			s.scripts[f] = []step{again}
			if at, sleeping := due[f]; sleeping && s.now < at {
				s.Fatalf("%s woke at %v, it sleeps until %v", s.names[f], s.now, at)
			}
			ms := float64(1 + random.IntN(100))
			due[f] = s.now + ms
			return sleep(ms)(s, f)
		}
		for i := range n {
			fibers = append(fibers, s.spawn(fmt.Sprint(i), again))
		}
		s.wake()
		for range 4000 {
			if random.IntN(3) > 0 {
				f := fibers[random.IntN(n)]
				due[f] = s.now
				s.wantBool("Notify of a sleeper", s.core.Notify(f, s.waits[f]), true)
			} else {
				s.now++
			}
			s.wake()
			earliest := math.Inf(1)
			for _, at := range due {
				earliest = min(earliest, at)
			}
			s.wantDeadline(earliest, true)
			if s.Failed() {
				return
			}
		}
	}},
}
