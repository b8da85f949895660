package actors

import (
	"testing"
	"testing/synctest"
	"time"
)

// On the virtual clock: at t=0 W blocks, at t=1 N answers, at t=50 the scan sees W's deadline, at t=51 W goes on, at
// t=52 the tester reads its answer.
func TestSleep_in_the_middle_of_a_handler(t *testing.T) {
	t.Run("S-SLEEP E-TEST-1 E-STEP-5", func(t *testing.T) {
		w := newWorld(t, Config{})
		guest := w.guest(Stack32K, echo)
		native := w.native(func(h *Host, m Message) bool {
			w.note("N handles %d", m.Type)
			return h.Send(m.Source, msgPong, []byte("pong")) == 0
		})
		w.from(guest, msgSleepTest, "")
		w.from(native, msgPing, "")

		w.steps(1)
		if info, _ := w.Info(guest); !info.Blocked || info.Deadline != 50*time.Millisecond || info.WaitsFor != "a "+
			"timer" {
			t.Errorf("at t=0 W is %+v", info)
		}
		w.steps(9)
		w.want("t=1 N handles 200", `t=2 3 sent 201 "pong"`)

		w.from(native, msgPing, "") // N stays responsive
		w.steps(40)
		w.want("t=10 N handles 200", `t=11 3 sent 201 "pong"`)
		if info, _ := w.Info(guest); !info.Blocked {
			t.Error("W is no longer blocked before its deadline")
		}
		w.steps(1)
		if info, _ := w.Info(guest); info.Blocked {
			t.Error("at t=50 W is still blocked")
		}
		w.steps(2)
		w.want(`t=51 2 sent 201 "slept"`)

		w.from(guest, msgPing, "still there?") // W is alive and able to answer
		w.steps(3)
		w.want(`t=54 2 sent 201 "still there?"`)
		if len(w.ended) != 0 {
			t.Errorf("actors have ended: %v", w.ended)
		}
	})
}

// The same on the real clock, in a testing/synctest bubble.
func TestSleep_by_the_real_clock(t *testing.T) {
	t.Run("S-SLEEP", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			r := New(Config{})
			defer r.Close()
			var order []int32
			tester, _ := r.SpawnNative(func(h *Host, m Message) bool { order = append(order, m.Type); return true }, 10)
			guest, _ := r.Spawn(GuestFunc(echo), 10, Stack64K)
			native, _ := r.SpawnNative(func(h *Host, m Message) bool { return h.Send(tester, msgPing, nil) == 0 }, 10)
			r.send(tester, guest, msgSleepTest, nil)
			r.send(tester, native, msgPing, nil)
			err := r.Run(func() bool { return len(order) == 2 })
			if d := time.Since(start); err != nil || d < 50*time.Millisecond || d > 60*time.Millisecond {
				t.Errorf("Run() = %v after %v, want nil after 50ms", err, d)
			}
			if order[0] != msgPing || order[1] != msgPong {
				t.Errorf("the answers came in the order %v", order)
			}
		})
	})
}

func TestClass_none_gets_an_error_at_once(t *testing.T) {
	t.Run("S-SLEEP E-SLEEP-2", func(t *testing.T) {
		w := newWorld(t, Config{})
		guest := w.guest(StackNone, echo)
		w.from(guest, msgSleepTest, "")
		w.steps(2)
		w.want(`t=1 2 sent 207 "no_fiber"`)
		w.from(guest, msgPing, "alive")
		w.steps(2)
		w.want(`t=3 2 sent 201 "alive"`)
	})
}

func TestSleep_returns_0_and_locals_are_intact(t *testing.T) {
	t.Run("E-SLEEP-1", func(t *testing.T) {
		w := newWorld(t, Config{})
		guest := w.guest(Stack32K, func(h *Host, m Message) int32 {
			var locals [1000]int
			for i := range locals {
				locals[i] = i * int(m.Type)
			}
			for n := range int32(3) {
				result := h.SleepMs(10)
				w.note("sleep %d returned %d", n, result)
			}
			for i := range locals {
				if locals[i] != i*int(m.Type) {
					t.Fatalf("local %d is %d", i, locals[i])
				}
			}
			return 1
		})
		w.from(guest, 7, "")
		w.steps(40)
		w.want("t=11 sleep 0 returned 0", "t=22 sleep 1 returned 0", "t=33 sleep 2 returned 0")
	})
}

func TestSleep_never_before_the_deadline_and_zero_is_a_step(t *testing.T) {
	t.Run("E-SLEEP-3", func(t *testing.T) {
		for ms, want := range map[int32]string{0: "t=2", -5: "t=2", 1: "t=2", 2: "t=3", 50: "t=51"} {
			w := newWorld(t, Config{})
			guest := w.guest(Stack32K, func(h *Host, m Message) int32 { h.SleepMs(ms); w.note("awake"); return 1 })
			w.from(guest, 1, "")
			w.steps(1)
			if info, _ := w.Info(guest); info.Deadline != time.Duration(max(0, ms))*time.Millisecond {
				t.Errorf("SleepMs(%d) at t=0 has the deadline %v", ms, info.Deadline)
			}
			w.steps(60)
			w.want(want + " awake")
		}
		t.Run("also if the clock stands still", func(t *testing.T) {
			w := newWorld(t, Config{})
			guest := w.guest(Stack32K, func(h *Host, m Message) int32 { h.SleepMs(0); w.note("awake"); return 1 })
			w.from(guest, 1, "")
			for n := 1; len(w.trail) == 0; n++ {
				if n > 10 {
					t.Fatal("it never woke")
				}
				if w.Step(); n == 1 && len(w.trail) != 0 {
					t.Error("it did not give way")
				}
			}
		})
		t.Run("fractions of a millisecond are not lost", func(t *testing.T) {
			w := newWorld(t, Config{})
			w.clock.Sleep(900 * time.Microsecond)
			guest := w.guest(Stack32K, func(h *Host, m Message) int32 { h.SleepMs(1); w.note("awake"); return 1 })
			w.from(guest, 1, "")
			w.Step()
			w.clock.Sleep(999 * time.Microsecond)
			for range 3 {
				w.Step()
			}
			w.want()
			w.clock.Sleep(time.Microsecond)
			for range 2 {
				w.Step()
			}
			w.want("t=1 awake")
		})
	})
}

// Messages neither shorten a sleep nor get lost. They are handled in order, after it.
func TestMessages_wait_for_the_end_of_the_handler(t *testing.T) {
	t.Run("E-SLEEP-4 E-MSG-1 E-MSG-2", func(t *testing.T) {
		w := newWorld(t, Config{})
		inside := 0
		guest := w.guest(Stack32K, func(h *Host, m Message) int32 {
			if inside++; inside != 1 {
				t.Error("the handler was entered while it had not ended")
			}
			w.note("begins %s", m.Payload)
			if m.Type == msgSleepTest {
				h.SleepMs(20)
			}
			w.note("ends %s", m.Payload)
			inside--
			return 1
		})
		w.from(guest, msgSleepTest, "a")
		w.steps(5)
		w.from(guest, msgPing, "b")
		w.steps(5)
		w.from(guest, msgSleepTest, "c")
		w.from(guest, msgPing, "d")
		w.steps(40)
		w.want("t=0 begins a", "t=21 ends a", "t=21 begins b", "t=21 ends b", "t=22 begins c", "t=43 ends c",
			"t=43 begins d", "t=43 ends d")
	})
}

func TestTwo_sleepers_the_shorter_wakes_first(t *testing.T) {
	t.Run("S-SLEEP", func(t *testing.T) {
		w := newWorld(t, Config{})
		for _, ms := range []int32{50, 20} {
			guest := w.guest(Stack32K, func(h *Host, m Message) int32 {
				h.SleepMs(ms)
				w.note("slept "+
					"%d", ms)
				return 1
			})
			w.from(guest, 1, "")
		}
		w.steps(60)
		w.want("t=22 slept 20", "t=51 slept 50") // the second sleep began at t=1
	})
}

// Actors unblocked in one step go on in the next: by deadline, then by ID, those without a deadline last. No message is
// needed.
func TestOrder_of_actors_that_wake_in_one_step(t *testing.T) {
	t.Run("E-STEP-3 E-STEP-4", func(t *testing.T) {
		w := newWorld(t, Config{})
		open := false
		waiter := func(name string, wait func(h *Host)) GuestFunc {
			return func(h *Host, m Message) int32 { wait(h); w.note("%s", name); return 1 }
		}
		gate := func(timeout int32) func(h *Host) {
			return func(h *Host) { h.Wait("the gate", func() bool { return open }, timeout) }
		}
		sleep := func(ms int32) func(h *Host) { return func(h *Host) { h.SleepMs(ms) } }
		for _, guest := range []GuestFunc{
			waiter("gate for ever", gate(0)),
			waiter("late", sleep(40)),
			waiter("gate, timed", gate(60)),
			waiter("early", sleep(10)),
			waiter("early, too", sleep(9)), // the same deadline: it begins a step later
		} {
			w.from(w.guest(Stack32K, guest), 1, "")
		}
		w.steps(5)
		w.clock.Sleep(40 * time.Millisecond)
		open = true
		w.steps(2)
		w.want("t=46 early", "t=46 early, too", "t=46 late", "t=46 gate, timed", "t=46 gate for ever")
	})
}
