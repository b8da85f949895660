package schedtest

import (
	"fmt"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/polyfill"
)

// started returns how many fibers have started and not ended: the most so far, and now.
func (s *stage) started() (most, now int) {
	begun := map[polyfill.Fiber]bool{}
	for _, r := range s.log() {
		switch r.Event {
		case asyncio.Resumed:
			begun[r.Fiber] = true
		case asyncio.Finished:
			delete(begun, r.Fiber)
		}
		most = max(most, len(begun))
	}
	return most, len(begun)
}

func (s *stage) wantStarted(most, now int) {
	s.Helper()
	if m, n := s.started(); m != most || n != now {
		s.Errorf("%d fibers started at most, %d now; want %d, %d", m, n, most, now)
	}
}

// Promise 6: bounded stacks.
var limitTests = []test{
	{"promise 6: no more fibers are started than the limit; the others wait in order", func(s *stage) {
		s.init(8, 7, 7)
		var want string
		for i := range 100 {
			s.spawn(fmt.Sprint(i), fetch(float64(1+i*37%11)), fetch(1))
			want += fmt.Sprint(i) + " "
		}
		s.loop()
		s.wantStarted(7, 0)
		seen, order := map[string]bool{}, ""
		for _, r := range s.log() {
			if name := s.names[r.Fiber]; r.Event == asyncio.Resumed && !seen[name] {
				seen[name] = true
				order += name + " "
			}
		}
		if order != want {
			s.Errorf("started in the order %s", order)
		}
	}},
	{"promise 6: a running fiber's children pass the soft limit, not the hard one", func(s *stage) {
		s.init(8, 1, 3)
		s.spawn("parent", do(func() {
			for i := range 4 {
				s.spawn(fmt.Sprint("child", i), fetch(5))
			}
		}), fetch(10))
		s.spawn("stranger")
		s.wake()
		s.wantLog("spawned parent, spawned stranger, entered, resumed parent, spawned child0, spawned child1, " +
			"spawned child2, spawned child3, waited parent, " +
			"resumed child0, waited child0, resumed child1, waited child1, paused")
		s.wantStarted(3, 3)
		s.loop()
		s.wantOrder(asyncio.Finished, "child0 child1 parent stranger child2 child3")
		s.wantStarted(3, 0)
	}},
	{"promise 6: places neither leak nor multiply through drops, traps and children", func(s *stage) {
		s.init(8, 4, 6)
		for round := range 20 {
			var ready, waiting []polyfill.Fiber
			for i := range 4 {
				ready = append(ready, s.spawn(fmt.Sprint("r", i), fetch(1)))
			}
			for i := range 8 {
				child := do(func() { s.spawn("child", fetch(2)) })
				waiting = append(waiting, s.spawn(fmt.Sprint("w", i), child, fetch(1), trap))
			}
			s.core.Drop(ready[round%4])
			s.core.Drop(waiting[round%8])
			s.core.Drop(waiting[7-round%8])
			s.loop()
			s.wantLive(0)
		}
		s.mark()
		for i := range 30 {
			s.spawn(fmt.Sprint("f", i), fetch(1))
		}
		s.loop()
		s.wantStarted(4, 0)
		s.wantLive(0)
	}},
	{"promise 6: a dropped fiber's place goes to the next, in order", func(s *stage) {
		s.init(8, 2, 2)
		a := s.spawn("a", fetch(1))
		s.spawn("b", fetch(1))
		c := s.spawn("c", fetch(1))
		s.spawn("d", fetch(1))
		s.core.Drop(a)
		s.core.Drop(c)
		s.loop()
		s.wantOrder(asyncio.Finished, "b d")
	}},
	{"stall: when nothing has moved for a second the limit grows, up to the hard one", func(s *stage) {
		s.init(8, 2, 4)
		for i := range 6 {
			s.spawn(fmt.Sprint(i), stuck)
		}
		s.now = 100
		s.wake()
		s.wantDeadline(1100, true)
		s.now = 1099
		s.turn()
		s.wantStarted(2, 2)
		s.wantDeadline(1100, true)
		s.now = 1100
		s.wake()
		s.wantStarted(3, 3)
		s.wantDeadline(2100, true)
		s.now = 2100
		s.wake()
		s.wantStarted(4, 4)
		s.wantBool("Stalled() before a second at the hard limit", s.core.Stalled(), false)
		s.wantDeadline(3100, true)
		s.now = 3100
		s.wake()
		s.wantBool("Stalled()", s.core.Stalled(), true)
		s.wantDeadline(0, false) // nothing that time could change
		s.now = 10_000
		s.turn()
		s.wantStarted(4, 4)
	}},
	{"stall: parents that hold every place and wait for children that have none get going", func(s *stage) {
		s.init(8, 3, 10)
		var parents []polyfill.Fiber
		for i := range 3 {
			parents = append(parents, s.spawn(fmt.Sprint("parent", i), stuck))
		}
		s.wake()
		for i, parent := range parents { // spawned by the event loop, not by the running parent
			s.spawn(fmt.Sprint("child", i), do(func() { s.core.Notify(parent, 1) }))
		}
		s.loop()
		s.wantLive(0)
		s.wantStarted(4, 0) // one more place was enough
		if s.now != 1000 {
			s.Errorf("it took %v ms, want 1000", s.now)
		}
	}},
	{"stall: a fiber spawned when all are stuck wakes the event loop, which had no deadline", func(s *stage) {
		s.init(8, 1, 2)
		s.spawn("stuck", stuck)
		s.loop()
		s.wantDeadline(0, false)
		s.spawn("late", fetch(1))
		s.wantBool("Wanted()", s.core.Wanted(), true)
		s.wantBool("Wanted() again", s.core.Wanted(), false)
		s.turn()
		s.wantDeadline(1000, true)
		s.loop()
		s.wantOrder(asyncio.Finished, "late")
	}},
	{"stall: a clock that hits the deadline exactly is enough, whatever it rounds to", func(s *stage) {
		for i := range 200 {
			s.init(8, 1, 2)
			s.now += 0.1 + float64(i)*1.7
			first := s.spawn("first", stuck)
			s.spawn("second", do(func() { s.core.Notify(first, 1) }))
			turns := s.turns
			s.loop()
			if s.turns-turns > 3 {
				s.Fatalf("%d turns for one stall at %v ms", s.turns-turns, s.now)
			}
			s.wantLive(0)
		}
	}},
	{"stall: no growth while a fiber is ready and a completion is there, however long nothing has moved", func(s *stage) {
		s.init(8, 2, 4)
		waits := s.spawn("waits", stuck, stuck)
		s.loop()
		s.begin("begun", yield, stuck)
		s.spawn("beyond", stuck)
		s.wantBool("Notify(waits, 1)", s.core.Notify(waits, 1), true)
		s.now = 5000
		s.turn()
		s.wantStarted(2, 2)
	}},
	{"stall: the limit grows by one, and by an eighth of what it is", func(s *stage) {
		s.init(8, 16, 100)
		for i := range 40 {
			s.spawn(fmt.Sprint(i), stuck)
		}
		s.wake()
		s.wantStarted(16, 16)
		s.now = 1000
		s.wake()
		s.wantStarted(19, 19)
	}},
	{"stall: the limit grows once a second, even where more are started than it allows", func(s *stage) {
		s.init(8, 1, 10)
		s.spawn("parent", do(func() {
			for i := range 3 {
				s.spawn(fmt.Sprint("child", i), stuck)
			}
		}), stuck)
		s.spawn("stranger")
		s.loop()
		s.wantOrder(asyncio.Finished, "stranger")
		if s.now != 4000 {
			s.Errorf("the stranger had its place after %v ms, want 4000", s.now)
		}
	}},
	{"stall: no growth while anything moves", func(s *stage) {
		s.init(8, 2, 10)
		s.spawn("stuck", stuck)
		var ticks []step
		for range 10 {
			ticks = append(ticks, sleep(400))
		}
		s.spawn("ticks", ticks...)
		s.spawn("waits")
		for s.now < 3600 {
			s.wake()
			s.now += 100
		}
		s.wantStarted(2, 2)
		s.loop()
		s.wantOrder(asyncio.Finished, "ticks waits")
	}},
	{"stall: fibers dropped while they waited do not make the limit grow or wake the event loop", func(s *stage) {
		s.init(8, 1, 8)
		s.spawn("stuck", stuck)
		s.loop()
		var dropped []polyfill.Fiber
		for i := range 5 {
			dropped = append(dropped, s.spawn(fmt.Sprint(i)))
		}
		s.wake()
		s.wantDeadline(1000, true)
		for _, i := range []int{3, 0, 4, 2} {
			s.core.Drop(dropped[i])
		}
		s.wantDeadline(1000, true)
		s.core.Drop(dropped[1])
		s.wantDeadline(0, false)
		s.now = 5000
		s.turn()
		s.spawn("late")
		s.wake()
		s.wantStarted(2, 1) // the limit has grown by one, for late only
	}},
	{"a stall at the hard limit is reported once, and again after something has moved", func(s *stage) {
		s.init(asyncio.DefaultBudget, 1, 2)
		waits := s.spawn("a", stuck)
		s.spawn("b", stuck)
		s.spawn("c", stuck)
		s.spawn("d")
		s.loop()
		s.wantBool("Stalled()", s.core.Stalled(), true)
		s.wantBool("Stalled(), asked again", s.core.Stalled(), false)
		s.wantDeadline(0, false)
		s.core.Notify(waits, 1)
		s.loop()
		s.wantBool("Stalled() after c took the place of a", s.core.Stalled(), true)
		s.wantLive(3)
	}},
	{"without fibers that wait for a place nothing is stalled", func(s *stage) {
		s.init(asyncio.DefaultBudget, 1, 2)
		s.spawn("a", stuck)
		s.spawn("b", stuck)
		s.loop()
		s.wantBool("Stalled()", s.core.Stalled(), false)
		s.wantDeadline(0, false)
	}},
	{"the limits can be raised and lowered at any time", func(s *stage) {
		s.init(asyncio.DefaultBudget, 1, 1)
		s.spawn("a", fetch(1), fetch(1))
		s.spawn("b", fetch(1))
		s.spawn("c")
		s.wake()
		s.wantOrder(asyncio.Resumed, "a")
		s.core.Limit(2, 2)
		s.wake()
		s.wantOrder(asyncio.Resumed, "a b")
		s.core.Limit(0, -1) // raised to one at a time
		s.loop()
		s.wantLive(0)
	}},
}
