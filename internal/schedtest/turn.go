package schedtest

import (
	"fmt"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/polyfill"
)

// The promises of package asyncio about order and about the length of a turn.
var turnTests = []test{
	{"promise 1: fibers start in the order in which they were spawned", func(s *stage) {
		var want string
		for i := range 200 {
			s.spawn(fmt.Sprint(i))
			want += fmt.Sprint(i) + " "
		}
		s.loop()
		s.wantOrder(asyncio.Resumed, want[:len(want)-1])
	}},
	{"promise 1: a fiber spawned by a running fiber starts in this turn, after all ready fibers", func(s *stage) {
		s.spawn("a", do(func() { s.spawn("c") }))
		s.spawn("b")
		s.loop()
		s.wantLog("spawned a, spawned b, entered, resumed a, spawned c, finished a, resumed b, finished b, resumed " +
			"c, finished c, completed")
	}},
	{"promise 2: completed I/O reaches the fiber that waits for it, in the order of completion", func(s *stage) {
		delays := []float64{50, 20, 40, 10, 30}
		for i, ms := range delays {
			s.spawn(fmt.Sprint(i), fetch(ms))
		}
		s.loop()
		s.wantOrder(asyncio.Finished, "3 1 4 2 0")
	}},
	{"promise 3 J-COST-1: a fiber that yields goes to the end of the ready queue, without a turn of the event " +
		"loop", func(s *stage) {
		for _, name := range []string{"a", "b", "c"} {
			s.spawn(name, yield, yield)
		}
		s.loop()
		s.wantOrder(asyncio.Resumed, "a b c a b c a b c")
		if s.turns != 1 {
			s.Errorf("%d turns for nine switches, want 1", s.turns)
		}
	}},
	{"promise 3: a fiber that yields alone goes on", func(s *stage) {
		s.spawn("a", yield, yield)
		s.loop()
		s.wantLog("spawned a, entered, resumed a, yielded a, resumed a, yielded a, resumed a, finished a, completed")
	}},
	{"promise 3: a fiber that yields without end starves neither I/O nor timers nor new fibers", func(s *stage) {
		var forever step
		left := 1000
		forever = func(s *stage, f polyfill.Fiber) asyncio.Command {
			if left--; left > 0 {
				s.scripts[f] = append(s.scripts[f], spend(0.1), do(s.settle), forever)
			}
			return yield(s, f)
		}
		s.spawn("spins", forever)
		s.spawn("fetches", fetch(20), do(func() { s.spawn("child") }))
		s.spawn("sleeps", sleep(30))
		s.loop()
		s.wantOrder(asyncio.Finished, "fetches child sleeps spins")
	}},
	{"promise 4: a turn ends when its budget is used up", func(s *stage) {
		s.init(8, 1000, 4000)
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			s.spawn(name, spend(3))
		}
		s.loop()
		s.wantLog(
			"spawned a, spawned b, spawned c, spawned d, spawned e, entered, resumed a, finished a, resumed b, "+
				"finished b, resumed c, finished c, paused",
			"entered, resumed d, finished d, resumed e, finished e, completed",
		)
	}},
	{"promise 4: each turn has the whole budget, counted from its own beginning", func(s *stage) {
		s.spawn("a", spend(5), fetch(100), spend(5))
		s.spawn("b", spend(2), fetch(98), spend(2))
		s.loop()
		if n := s.count(asyncio.Entered); n != 2 {
			s.Errorf("%d turns, want 2:\n%s", n, s.text())
		}
	}},
	{"promise 4: TurnOver is the schedule for the next turn", func(s *stage) {
		s.spawn("a", spend(10))
		s.spawn("b")
		s.wantBool("Wanted()", s.core.Wanted(), true)
		s.turn()
		s.wantBool("the turn is over", s.over, true)
		s.spawn("c")
		s.wantBool("Wanted() after TurnOver", s.core.Wanted(), false)
		s.turn()
		s.wantLive(0)
	}},
	{"promise 4: with the smallest budget a turn runs one fiber", func(s *stage) {
		s.init(0, 1000, 4000)
		s.spawn("a", yield)
		s.spawn("b")
		s.loop()
		s.wantLog("spawned a, spawned b, entered, resumed a, yielded a, paused",
			"entered, resumed b, finished b, paused",
			"entered, resumed a, finished a, completed")
	}},
	{"promise 5: Wanted returns true once, and again for the next turn", func(s *stage) {
		s.spawn("a", stuck)
		s.wantBool("Wanted()", s.core.Wanted(), true)
		b := s.spawn("b", stuck)
		s.wantBool("Wanted() again", s.core.Wanted(), false)
		s.turn()
		s.wantBool("Wanted() after the turn", s.core.Wanted(), false)
		s.core.Notify(b, 1)
		s.wantBool("Wanted() for b", s.core.Wanted(), true)
		s.wantBool("Wanted() for b again", s.core.Wanted(), false)
		s.turn()
		s.wantOrder(asyncio.Finished, "b")
	}},
	{"promise 5: the next turn does all work, even if Wanted was not asked for it", func(s *stage) {
		s.spawn("a")
		s.turn()
		s.wantLive(0)
	}},
	{"a fiber that has started cannot be dropped, whatever it does", func(s *stage) {
		var runs polyfill.Fiber
		waits := s.spawn("waits", stuck)
		yields := s.spawn("yields", yield, spend(10), yield)
		runs = s.spawn("runs", do(func() {
			s.wantBool("Drop of the running fiber", s.core.Drop(runs), false)
			s.wantBool("Drop of a waiting fiber", s.core.Drop(waits), false)
			s.wantBool("Drop of a yielded fiber", s.core.Drop(yields), false)
		}))
		s.loop()
		s.wantBool("Drop of a fiber that is over", s.core.Drop(runs), false)
		s.wantBool("Drop of null", s.core.Drop(0), false)
		s.wantBool("Drop of an invented reference", s.core.Drop(4711), false)
		s.wantLive(1)
	}},
	{"the reference of a dropped fiber is not the next fiber in its place", func(s *stage) {
		old := s.spawn("old")
		s.core.Drop(old)
		s.spawn("new")
		s.wantBool("Drop(old)", s.core.Drop(old), false)
		s.loop()
		s.wantOrder(asyncio.Resumed, "new")
	}},
}
