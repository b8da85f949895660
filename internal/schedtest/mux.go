package schedtest

import (
	"fmt"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/polyfill"
)

// The multiplexing rules, as far as the scheduler alone can show them.
var muxTests = []test{
	{"J-MUX-1: nothing but a turn enters the scheduler, and none begins while a fiber runs", func(s *stage) {
		s.spawn("f", fetch(1), do(func() {
			before := len(s.core.Log())
			if c := s.core.Turn(s.now); c != asyncio.Idle {
				s.Errorf("Turn() while a fiber runs = %#x, want Idle", c)
			}
			if len(s.core.Log()) != before {
				s.Error("a turn began while a fiber ran")
			}
		}), fetch(1))
		s.spawn("g", fetch(1))
		s.wantLog("spawned f, spawned g")
		s.loop()
		if s.order(asyncio.Finished) != "g f" {
			s.Errorf("ended: %s, want g f", s.order(asyncio.Finished))
		}
	}},
	{"J-MUX-1: a scheduled turn that comes while a fiber runs is made up for", func(s *stage) {
		s.spawn("f", do(func() {
			s.spawn("g")
			s.core.Turn(s.now)
		}), fetch(5))
		s.loop()
		s.wantOrder(asyncio.Finished, "g f")
	}},
	{"J-MUX-2: control returns to the event loop only when no fiber can run", func(s *stage) {
		s.spawn("a", fetch(10))
		s.spawn("b", yield, yield, fetch(10))
		s.spawn("c", fetch(10))
		s.wake()
		s.wantOrder(asyncio.Waited, "a c b")
		if n := s.count(asyncio.Paused); n != 1 {
			s.Errorf("%d pauses before the first completion, want 1", n)
		}
		s.loop()
	}},
	{"J-MUX-3: the application pauses once for all outstanding requests", func(s *stage) {
		for i := range 100 {
			s.spawn(fmt.Sprint(i), fetch(10))
		}
		s.loop()
		if paused, entered := s.count(asyncio.Paused), s.count(asyncio.Entered); paused != 1 || entered != 2 {
			s.Errorf("%d pauses and %d entries for 100 requests, want 1 and 2", paused, entered)
		}
	}},
	{"J-MUX-4 J-MUX-5: a completion enters the inbox and not the fiber", func(s *stage) {
		f := s.spawn("f", stuck)
		g := s.spawn("g", stuck)
		s.wake()
		s.mark()
		s.wantBool("Notify(f, 1)", s.core.Notify(f, 1), true)
		s.wantBool("Notify(g, 1)", s.core.Notify(g, 1), true)
		s.wantLog("notified f, notified g")
		s.wake()
		s.wantLog("notified f, notified g, entered, resumed f, finished f, resumed g, finished g, completed")
	}},
	{"J-MUX-6: a completion while a fiber runs is queued, not lost, and not delivered twice", func(s *stage) {
		var a, b polyfill.Fiber
		a = s.spawn("a", stuck)
		b = s.spawn("b", stuck)
		s.spawn("c", do(func() {
			s.wantBool("Notify(b, 1)", s.core.Notify(b, 1), true)
			s.wantBool("Notify(a, 1)", s.core.Notify(a, 1), true)
			s.wantBool("Notify(b, 1) again", s.core.Notify(b, 1), false)
			s.wantBool("Wanted() while a fiber runs", s.core.Wanted(), false)
		}), yield)
		s.loop()
		s.wantLog("spawned a, spawned b, spawned c, entered, resumed a, waited a, resumed b, waited b, resumed c, " +
			"notified b, notified a, yielded c, resumed c, finished c, resumed b, finished b, resumed a, finished a, " +
			"completed")
	}},
	{"J-MUX-6: a completion between two turns of one run of the ready queue", func(s *stage) {
		f := s.spawn("f", stuck)
		s.spawn("g", yield, spend(10), yield)
		s.turn()
		if !s.over {
			s.Fatal("the turn is not over after 10 ms")
		}
		s.wantBool("Notify(f, 1)", s.core.Notify(f, 1), true)
		s.wantBool("Wanted() after TurnOver", s.core.Wanted(), false)
		s.loop()
		s.wantOrder(asyncio.Finished, "g f")
	}},
	{"J-MUX-7: a completion without a wait is dropped without a trace", func(s *stage) {
		over := s.spawn("over")
		waiting := s.spawn("waiting", fetch(1), stuck)
		yielded := s.spawn("yielded", yield, spend(10), yield)
		s.spawn("tells", do(func() { s.spawn("later") }))
		s.turn()
		if !s.over {
			s.Fatal("the turn is not over")
		}
		unstarted := s.spawn("unstarted", do(func() {}))
		s.now = 20
		s.settle()
		s.mark()
		for _, c := range []struct {
			name string
			f    polyfill.Fiber
			wait uint32
		}{
			{"a fiber that is over", over, 1},
			{"a wait that has been notified", waiting, 1},
			{"a wait to come", waiting, 2},
			{"no wait", waiting, 0},
			{"a fiber that yielded", yielded, 1},
			{"a fiber that yielded, next", yielded, 2},
			{"a fiber that has not started", unstarted, 1},
			{"a fiber that has not started, at zero", unstarted, 0},
			{"null", 0, 0},
			{"null, 1", 0, 1},
			{"an invented reference", 4711, 1},
			{"all ones", ^polyfill.Fiber(0), 0},
		} {
			s.wantBool("Notify of "+c.name, s.core.Notify(c.f, c.wait), false)
		}
		s.wantLog("")
		s.loop()
		s.wantBool("Notify of an old wait", s.core.Notify(waiting, 1), false)
		s.wantBool("Wanted() after a refused notification", s.core.Wanted(), false)
		s.wantBool("Notify of the current wait", s.core.Notify(waiting, 2), true)
		s.wantBool("Wanted()", s.core.Wanted(), true)
		s.turn()
		s.wantLive(0)
	}},
	{"J-MUX-7: the running fiber does not wait", func(s *stage) {
		var f polyfill.Fiber
		f = s.spawn("f", stuck, do(func() {
			for n := range uint32(4) {
				s.wantBool(fmt.Sprintf("Notify(f, %d)", n), s.core.Notify(f, n), false)
			}
		}))
		s.wake()
		s.core.Notify(f, 1)
		s.loop()
		s.wantLive(0)
	}},
	{"J-MUX-7: sleeps and yields count as waits", func(s *stage) {
		f := s.spawn("f", yield, sleep(10), yield, stuck)
		s.loop()
		s.wantBool("Notify(f, 1)", s.core.Notify(f, 1), false)
		s.wantBool("Notify(f, 4)", s.core.Notify(f, 4), true)
		s.loop()
		s.wantLive(0)
	}},
	{"J-MUX-10: the end of the last fiber completes, at once", func(s *stage) {
		s.spawn("a", fetch(5))
		s.spawn("b", sleep(7))
		s.loop()
		if n := s.count(asyncio.Completed); n != 1 || s.now != 7 {
			s.Errorf("completed %d times, the last at %v ms, want once at 7", n, s.now)
		}
		s.wantBool("Wanted()", s.core.Wanted(), false)
		s.wantDeadline(0, false)
	}},
	{"J-MUX-10: a fiber that nothing wakes pauses the application without spinning", func(s *stage) {
		s.spawn("a", stuck)
		s.loop()
		if s.turns != 1 {
			s.Errorf("%d turns, want 1", s.turns)
		}
		s.wantLog("spawned a, entered, resumed a, waited a, paused")
		s.wantBool("Wanted()", s.core.Wanted(), false)
		s.wantDeadline(0, false)
		s.turn() // an unneeded turn
		s.wantLog("spawned a, entered, resumed a, waited a, paused", "entered, paused")
	}},
	{"J-MUX-10: work may begin again after the end", func(s *stage) {
		for range 3 {
			s.spawn("a", fetch(1))
			s.loop()
			s.wantLive(0)
		}
		if n := s.count(asyncio.Completed); n != 3 {
			s.Errorf("completed %d times, want 3", n)
		}
	}},
	{"J-ID-1: a reference names its fiber from the spawning to long after the end", func(s *stage) {
		old := s.spawn("old", stuck, stuck)
		s.loop()
		var dead []polyfill.Fiber
		for range 3000 { // more than one place has references
			f := s.spawn("other")
			if f == old {
				s.Fatal("a live reference was given out again")
			}
			dead = append(dead, f)
			s.loop()
		}
		for n := range uint32(2) {
			s.wantBool(fmt.Sprintf("Notify(old, %d)", n+1), s.core.Notify(old, n+1), true)
			if c := s.core.Turn(s.now); c.Fiber() != old {
				s.Fatalf("Turn() = %#x, want %#x as it was spawned", c, old)
			} else {
				s.scripts[old] = s.scripts[old][min(1, len(s.scripts[old])):]
			}
			if n == 0 {
				s.obey(s.core.Wait(s.now))
			} else {
				s.obey(s.core.Finish(false, s.now))
			}
		}
		for _, f := range append(dead, old) {
			if s.core.Notify(f, 1) || s.core.Drop(f) {
				s.Fatalf("%#x is over, but a core operation accepted it", f)
			}
		}
	}},
}
