package wheel

import "testing"

// The rules are tested on the substrates, first in package asyncio/actors. These tests cover what no substrate shows.

// step does a step; run is called for each actor that runs and returns whether it stays alive.
func step(w *Wheel, now Time, run func(what Command, id ID) bool) {
	w.Begin(now)
	for what, id := w.Next(); what != Over; what, id = w.Next() {
		w.Back(run(what, id))
	}
}

func TestReady_counts_for_the_wait_that_it_names(t *testing.T) {
	t.Run("E-FD-3 J-MUX-7", func(t *testing.T) {
		var w Wheel
		id, _ := w.Spawn(C32K, false, 1)
		w.Send(id)
		var results []int32
		run := func(what Command, id ID) bool {
			if what == Resume {
				results = append(results, w.Result(id))
			}
			if len(results) < 3 && w.Wait(id, 1, Time(len(results))*10*Millisecond) != Park {
				t.Fatal("the actor has not parked")
			}
			return true
		}
		step(&w, 0, run)
		if !w.Ready(id, 1) || w.Ready(id, 2) || w.Ready(99, 1) {
			t.Error("Ready counts for another wait than the one that has begun")
		}
		step(&w, 10*Millisecond, run) // the timeout has passed too
		if w.Ready(id, 1) {
			t.Error("Ready counts for a wait that is over")
		}
		step(&w, 10*Millisecond, run) // resumes the actor, which waits again
		if w.Ready(id, 1) || w.Waits(id) != 2 {
			t.Error("Ready of the first wait counts for the second")
		}
		step(&w, 30*Millisecond, run)
		if w.Ready(id, 2) {
			t.Error("Ready counts after the scan has seen the timeout")
		}
		step(&w, 30*Millisecond, run)
		if len(results) != 2 || results[0] != 0 || results[1] != -1 {
			t.Errorf("the waits have returned %v, want 0 and -1", results)
		}
	})
}

// Otherwise a substrate that is told, and does not poll, would sleep for ever.
func TestMore_counts_what_is_ready_since_the_scan(t *testing.T) {
	t.Run("E-FD-3", func(t *testing.T) {
		var w Wheel
		id, _ := w.Spawn(C32K, false, 1)
		w.Send(id)
		var ran []Command
		run := func(what Command, id ID) bool {
			if ran = append(ran, what); what == Enter {
				w.Wait(id, 0, 0)
			}
			return true
		}
		step(&w, 0, run)
		if w.More() {
			t.Error("nothing is ready, and there is more to do")
		}
		w.Ready(id, 1)
		for n := 0; w.More() && n < 10; n++ {
			step(&w, 0, run)
		}
		if len(ran) != 2 || ran[1] != Resume {
			t.Errorf("it has gone on like this: %v", ran)
		}
	})
}

func TestA_blocking_call_of_an_actor_that_does_not_run(t *testing.T) {
	t.Run("K-7", func(t *testing.T) {
		var w Wheel
		one, _ := w.Spawn(C32K, false, 1)
		other, _ := w.Spawn(C32K, false, 1)
		w.Send(other)
		check := func(when string) {
			if w.Sleep(one, 1, 0) != NotRunning || w.Recv(one) != NotRunning || w.Wait(one, 1, 0) != NotRunning {
				t.Errorf("%s an actor that does not run has blocked", when)
			}
		}
		check("outside a step")
		w.Send(one)
		step(&w, 0, func(_ Command, id ID) bool { check("beside another"); return true })
		if info, _ := w.Info(one); info.Blocked || info.Mailbox != 1 {
			t.Errorf("a refused call has changed the actor: %+v", info)
		}
	})
}

// A thousand actors that are spawned, block, send and end, again and again, do not make the tables grow.
func TestSteps_allocate_nothing_and_records_are_used_again(t *testing.T) {
	var w Wheel
	now := Time(0)
	var ids []ID
	round := func() {
		ids = ids[:0]
		for range 1000 {
			id, _ := w.Spawn(C32K, false, 4)
			w.Send(id)
			ids = append(ids, id)
		}
		for range 2100 {
			now += Millisecond
			step(&w, now, func(what Command, id ID) bool {
				if what == Enter {
					w.Sleep(id, int32(id%7), now)
				}
				return what == Enter
			})
		}
		if w.Fibers.Live() != 0 || len(w.live) != 0 || w.More() {
			t.Fatalf("%d fibers, %d actors are left", w.Fibers.Live(), len(w.live))
		}
	}
	round()
	if n := testing.AllocsPerRun(3, round); n != 0 {
		t.Errorf("%v allocations for a thousand actors after the first thousand", n)
	}
}
