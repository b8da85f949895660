package schedtest

import (
	"fmt"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/polyfill"
)

// judge fails the test if the log shows something that a scheduler must not do.
func (s *stage) judge() {
	s.Helper()
	s.from = 0
	if err := judge(s.log()); err != "" {
		s.Errorf("%s\nlog:\n%s", err, tail(s.text()))
	}
}

// judge checks a whole log, from StartLog on an unused core:
//
//   - a fiber is entered only in a turn, by the scheduler, never from a callback, and only one runs at a time (J-MUX-1,
//     J-MUX-5, K-1); or it begins inside a call, which goes on when the fiber is first suspended or over;
//   - each event that makes a fiber ready, its spawning, a completion or a yield, makes it run at most once (J-MUX-6);
//   - completions are delivered in order, and so are yields; a completion that comes while a fiber runs is seen after
//     that fiber's step, so it queues up behind the fiber's yield;
//   - nothing happens to a fiber that is over (J-MUX-7);
//   - nothing is outstanding when the scheduler logs "completed" (J-MUX-10).
func judge(log []asyncio.Record) string {
	const (
		unstarted = iota + 1
		ready
		running
		waiting
		over
	)
	state := map[polyfill.Fiber]int{}
	var queue, inbox []polyfill.Fiber // ready, in order
	var now polyfill.Fiber            // the running fiber
	var callers []polyfill.Fiber      // fibers inside a call of Begin; 0: the root
	var begun []polyfill.Fiber        // the fibers begun by those calls
	turn := false
	alive := 0
	for i, r := range log {
		wrong := func(why string) string {
			return fmt.Sprintf("record %d, %v %#x: %s", i, r.Event, uint32(r.Fiber), why)
		}
		is := state[r.Fiber]
		switch r.Event {
		case asyncio.Spawned:
			if is != 0 {
				return wrong("the reference was given out before")
			}
			state[r.Fiber] = unstarted
			alive++
		case asyncio.Begun:
			if is != 0 {
				return wrong("the reference was given out before")
			}
			alive++
			callers, begun = append(callers, now), append(begun, r.Fiber)
			state[r.Fiber], now = running, r.Fiber
		case asyncio.Dropped:
			if is != unstarted {
				return wrong("it had started")
			}
			state[r.Fiber] = over
			alive--
		case asyncio.Notified:
			if is != waiting {
				return wrong("it did not wait")
			}
			state[r.Fiber] = ready
			inbox = append(inbox, r.Fiber)
		case asyncio.Entered:
			if turn || now != 0 {
				return wrong("in the middle of a turn")
			}
			turn = true
		case asyncio.Resumed:
			queue, inbox = append(queue, inbox...), inbox[:0]
			switch {
			case !turn || now != 0:
				return wrong("not by the scheduler, or while another fiber runs")
			case is == unstarted:
			case is != ready:
				return wrong("it was not ready")
			case queue[0] != r.Fiber:
				return wrong(fmt.Sprintf("%#x was ready before it", uint32(queue[0])))
			default:
				queue = queue[1:]
			}
			state[r.Fiber], now = running, r.Fiber
		case asyncio.Waited, asyncio.Yielded, asyncio.Finished:
			if now != r.Fiber || r.Fiber == 0 {
				return wrong("it did not run")
			}
			now = 0
			if last := len(begun) - 1; last >= 0 && begun[last] == r.Fiber {
				now = callers[last]
				callers, begun = callers[:last], begun[:last]
			}
			switch r.Event {
			case asyncio.Waited:
				state[r.Fiber] = waiting
			case asyncio.Yielded:
				state[r.Fiber] = ready
				queue = append(queue, r.Fiber)
			default:
				state[r.Fiber] = over
				alive--
			}
		case asyncio.Paused, asyncio.Completed:
			if !turn || now != 0 {
				return wrong("no turn was going on, or a fiber runs")
			}
			turn = false
			queue, inbox = append(queue, inbox...), inbox[:0]
			if r.Event == asyncio.Completed && alive > 0 {
				return wrong(fmt.Sprintf("%d fibers are alive", alive))
			}
		default:
			return wrong("there is no such event")
		}
	}
	return ""
}
