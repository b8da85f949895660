package schedtest

import (
	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/polyfill"
)

// begin makes a fiber inside a call, runs its first steps there, and returns to the call.
func (s *stage) begin(name string, script ...step) polyfill.Fiber {
	s.Helper()
	f, started := s.core.Begin()
	if f == 0 {
		s.Fatalf("Begin() = null for %s", name)
	}
	s.names[f], s.scripts[f] = name, script
	if started {
		s.obey(asyncio.Command(f))
	}
	return f
}

// Fibers that begin inside the call that makes them, as with WebAssembly.promising.
var beginTests = []test{
	{"a fiber that begins runs at once, until it waits, and then like any other", func(s *stage) {
		s.begin("a", fetch(10), yield)
		s.loop()
		s.wantLog("begun a, waited a, notified a, entered, resumed a, yielded a, resumed a, finished a, completed")
	}},
	{"a fiber that begins and never waits ends inside the call", func(s *stage) {
		s.begin("a")
		s.wantLive(0)
		s.loop()
		s.wantLog("begun a, finished a")
	}},
	{"a running fiber whose import begins another fiber goes on when that fiber waits or ends", func(s *stage) {
		s.spawn("outer", do(func() {
			s.begin("waits", fetch(10))
			s.begin("ends")
		}), yield)
		s.loop()
		s.wantLog("spawned outer, entered, resumed outer, begun waits, waited waits, begun ends, finished ends, "+
			"yielded outer, "+
			"resumed outer, finished outer, paused", "notified waits, entered, resumed waits, finished waits, "+
			"completed")
	}},
	{"calls nest, and each goes back to its own caller", func(s *stage) {
		s.begin("a", do(func() {
			s.begin("b", do(func() { s.begin("c", yield) }), fetch(5))
		}), fetch(1))
		s.loop()
		s.wantOrder(asyncio.Waited, "b a")
		s.wantOrder(asyncio.Finished, "c a b")
	}},
	{"one that is ready and a completion, neither in a turn, are work", func(s *stage) {
		waits := s.spawn("waits", stuck)
		s.loop()
		s.begin("begun", yield)
		s.wantBool("Notify(waits, 1)", s.core.Notify(waits, 1), true)
		s.wantBool("Wanted()", s.core.Wanted(), true)
		s.turn()
		s.wantOrder(asyncio.Finished, "begun waits")
	}},
	{"a trap ends the fiber that has begun, not its caller", func(s *stage) {
		s.spawn("outer", do(func() { s.begin("traps", trap) }))
		s.loop()
		s.wantOrder(asyncio.Finished, "traps outer")
	}},
	{"beyond the hard limit a fiber that begins waits for its place", func(s *stage) {
		s.init(asyncio.DefaultBudget, 2, 2)
		s.begin("a", fetch(10))
		s.begin("b", fetch(20))
		if f, started := s.core.Begin(); started || f == 0 {
			s.Errorf("Begin() = %#x, %t beyond the hard limit, want a fiber that has not started", uint32(f), started)
		} else {
			s.names[f], s.scripts[f] = "c", nil
		}
		s.loop()
		s.wantOrder(asyncio.Finished, "a c b")
	}},
}
