package schedtest

import (
	"fmt"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/polyfill"
)

// Scenario S-FETCH and its variants: fibers that fetch, a scheduler that knows of I/O, and the event loop around them.
var fetchTests = []test{
	{"S-FETCH J-MUX-2 J-MUX-3: three fetches", func(s *stage) {
		s.spawn("f0", fetch(30))
		s.spawn("f1", fetch(10))
		s.spawn("f2", fetch(20))
		s.loop()
		s.wantLog(
			"spawned f0, spawned f1, spawned f2, entered, resumed f0, waited f0, resumed f1, waited f1, resumed f2, "+
				"waited f2, paused",
			"notified f1, entered, resumed f1, finished f1, paused",
			"notified f2, entered, resumed f2, finished f2, paused",
			"notified f0, entered, resumed f0, finished f0, completed",
		)
		if s.turns != 4 || s.count(asyncio.Paused) != 3 || s.now != 30 {
			s.Errorf("%d entries, %d pauses, %v ms; want 4, 3, 30", s.turns, s.count(asyncio.Paused), s.now)
		}
		s.wantLive(0)
	}},
	{"S-FETCH: a fiber with two fetches in sequence", func(s *stage) {
		s.spawn("f0", fetch(10), fetch(10))
		s.spawn("f1", fetch(15))
		s.loop()
		s.wantLog(
			"spawned f0, spawned f1, entered, resumed f0, waited f0, resumed f1, waited f1, paused",
			"notified f0, entered, resumed f0, waited f0, paused",
			"notified f1, entered, resumed f1, finished f1, paused",
			"notified f0, entered, resumed f0, finished f0, completed",
		)
	}},
	{"S-FETCH J-MUX-6: two completions in one turn, delivered in settlement order", func(s *stage) {
		s.spawn("f0", fetch(20))
		s.spawn("f1", fetch(10))
		s.wake()
		s.now = 25 // the event loop was busy
		s.loop()
		s.wantLog(
			"spawned f0, spawned f1, entered, resumed f0, waited f0, resumed f1, waited f1, paused",
			"notified f1, notified f0, entered, resumed f1, finished f1, resumed f0, finished f0, completed",
		)
	}},
	{"S-FETCH: green threads go on while fetches are out", func(s *stage) {
		s.spawn("fetch", fetch(3))
		s.spawn("green", yield, spend(2), yield, spend(2), do(s.settle), yield)
		s.loop()
		s.wantLog(
			"spawned fetch, spawned green, entered, resumed fetch, waited fetch, resumed green, yielded green, " +
				"resumed green, yielded green, " +
				"resumed green, notified fetch, yielded green, resumed green, finished green, resumed fetch, " +
				"finished fetch, completed",
		)
	}},
	{"S-FETCH: no fibers at all", func(s *stage) {
		s.wantBool("Wanted()", s.core.Wanted(), false)
		s.wantDeadline(0, false)
		s.turn()
		s.wantLog("entered, completed")
	}},
	{"S-FETCH: dropped fibers never run and leave nothing behind", func(s *stage) {
		var fibers []polyfill.Fiber
		for i := range 4 {
			fibers = append(fibers, s.spawn(fmt.Sprint("f", i), fetch(10)))
		}
		s.wantBool("Drop(f0)", s.core.Drop(fibers[0]), true)
		s.wantBool("Drop(f2)", s.core.Drop(fibers[2]), true)
		s.wantBool("Drop(f2) again", s.core.Drop(fibers[2]), false)
		s.loop()
		s.wantLog(
			"spawned f0, spawned f1, spawned f2, spawned f3, dropped f0, dropped f2, entered, resumed f1, waited f1, "+
				"resumed f3, waited f3, paused",
			"notified f1, notified f3, entered, resumed f1, finished f1, resumed f3, finished f3, completed",
		)
		s.wantLive(0)
	}},
	{"S-FETCH: only dropped fibers", func(s *stage) {
		f := s.spawn("f", fetch(10))
		s.core.Drop(f)
		s.loop()
		s.wantLog("spawned f, dropped f, entered, completed")
	}},
	{"S-FETCH: a limit of one runs the fibers one after another", func(s *stage) {
		s.init(8, 1, 1)
		s.spawn("f0", fetch(30))
		s.spawn("f1", fetch(10))
		s.spawn("f2", fetch(20))
		s.loop()
		s.wantLog(
			"spawned f0, spawned f1, spawned f2, entered, resumed f0, waited f0, paused",
			"notified f0, entered, resumed f0, finished f0, resumed f1, waited f1, paused",
			"notified f1, entered, resumed f1, finished f1, resumed f2, waited f2, paused",
			"notified f2, entered, resumed f2, finished f2, completed",
		)
		if s.now != 60 {
			s.Errorf("took %v ms, want 60", s.now)
		}
	}},
	{"S-FETCH K-9: a fiber that traps ends alone", func(s *stage) {
		s.spawn("f0", fetch(20))
		s.spawn("f1", fetch(10), trap)
		s.loop()
		s.wantLog(
			"spawned f0, spawned f1, entered, resumed f0, waited f0, resumed f1, waited f1, paused",
			"notified f1, entered, resumed f1, finished f1, paused",
			"notified f0, entered, resumed f0, finished f0, completed",
		)
	}},
	{"S-FETCH: a thousand", func(s *stage) {
		for i := range 1000 {
			s.spawn(fmt.Sprint(i), fetch(float64(i*7919%1000)))
		}
		s.loop()
		if n := s.count(asyncio.Finished); n != 1000 || s.now != 999 {
			s.Errorf("%d fibers ended by %v ms, want 1000 by 999", n, s.now)
		}
	}},
}
