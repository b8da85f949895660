package actors

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestClasses(t *testing.T) {
	t.Run("E-CLASS-1 E-CLASS-2", func(t *testing.T) {
		w := newWorld(t, Config{})
		for class, bytes := range map[StackClass]int32{StackNone: 0, Stack32K: 32 << 10, Stack64K: 64 << 10,
			Stack128K: 128 << 10} {
			if int32(class) != bytes {
				t.Errorf("a class has the value %d, want %d", class, bytes)
			}
			if _, err := w.Spawn(GuestFunc(echo), 1, class); err != nil {
				t.Errorf("Spawn(class %d) = %v", class, err)
			}
		}
		if default_ := *new(StackClass); default_ != StackNone {
			t.Error("the default is not none")
		}
		for _, class := range []StackClass{-1, 1, 512, 1024, 2048, 4096, 8192, 0xffff, 32767, 131073} {
			if id, err := w.Spawn(GuestFunc(echo), 1, class); err != ErrClass || id != 0 {
				t.Errorf("Spawn(class %d) = %d, %v, want it refused", class, id, err)
			}
		}
	})
}

func TestSpawn_and_factory_take_a_class(t *testing.T) {
	t.Run("E-SPAWN-1", func(t *testing.T) {
		w := newWorld(t, Config{})
		made := 0
		factory := Factory{Guest: func() Guest { made++; return GuestFunc(echo) }, Mailbox: 3, Class: Stack64K}
		direct, err1 := w.Spawn(GuestFunc(echo), 3, Stack64K)
		first, err2 := w.SpawnFrom(factory)
		second, err3 := w.SpawnFrom(factory)
		if err1 != nil || err2 != nil || err3 != nil || made != 2 || first == second {
			t.Fatalf("spawned %d, %d, %d: %v, %v, %v", direct, first, second, err1, err2, err3)
		}
		for _, id := range []ID{direct, first, second} {
			if info, ok := w.Info(id); !ok || info.Class != Stack64K {
				t.Errorf("actor %d is %+v", id, info)
			}
		}
		for _, room := range []int{0, -1, math.MinInt + 5} {
			if _, err := w.Spawn(GuestFunc(echo), room, StackNone); err != ErrMailbox {
				t.Errorf("Spawn with a mailbox for %d messages = %v", room, err)
			}
		}
	})
}

// Spawn allocates the stack. An actor of class none has none, and without memory the spawn fails.
func TestThe_stack_is_allocated_at_spawn(t *testing.T) {
	t.Run("E-SPAWN-2", func(t *testing.T) {
		w := newWorld(t, Config{StackMemory: 96 << 10})
		goroutines := runtime.NumGoroutine()
		w.guest(StackNone, echo)
		if w.machine.Live() != 0 || runtime.NumGoroutine() != goroutines || w.memory != 0 {
			t.Error("class none has got a fiber")
		}
		first := w.guest(Stack64K, echo)
		if w.machine.Live() != 1 || runtime.NumGoroutine() != goroutines+1 || w.memory != 64<<10 {
			t.Errorf("%d fibers, %d goroutines more, %d "+
				"bytes", w.machine.Live(), runtime.NumGoroutine()-goroutines, w.memory)
		}
		if id, err := w.Spawn(GuestFunc(echo), 1, Stack64K); err != ErrNoStack || id != 0 || w.machine.Live() != 1 {
			t.Errorf("Spawn beyond the memory = %d, %v", id, err)
		}
		w.guest(Stack32K, echo)
		w.Stop(first) // frees its memory
		w.guest(Stack64K, echo)
	})
}

func TestState_of_an_actor(t *testing.T) {
	t.Run("E-STATE-1", func(t *testing.T) {
		w := newWorld(t, Config{Readiness: readiness(func(int32, bool) bool { return false })})
		guest := w.guest(Stack128K, func(h *Host, m Message) int32 {
			h.SleepMs(10)
			h.Recv(nil)
			h.WaitFDWritable(7, 5)
			return 1
		})
		step := func(n int, want Info) {
			t.Helper()
			w.steps(n)
			if info, ok := w.Info(guest); !ok || info != want {
				t.Errorf("t=%v: %+v, want %+v", w.clock.Now(), info, want)
			}
		}
		step(0, Info{Class: Stack128K})
		w.from(guest, 1, "")
		step(0, Info{Class: Stack128K, Mailbox: 1})
		step(1, Info{Class: Stack128K, Blocked: true, WaitsFor: "a timer", Deadline: 10 * time.Millisecond})
		step(11, Info{Class: Stack128K, Blocked: true, WaitsFor: "a message"})
		w.from(guest, 2, "")
		step(2, Info{Class: Stack128K, Blocked: true, WaitsFor: "descriptor 7 to be writable",
			Deadline: 18 * time.Millisecond})
		step(7, Info{Class: Stack128K})
		if _, ok := w.Info(99); ok {
			t.Error("there is an actor 99")
		}
	})
}

// A step first scans the blocked guests, and then handles a message.
func TestThe_scan_comes_before_the_messages(t *testing.T) {
	t.Run("E-STEP-1", func(t *testing.T) {
		w := newWorld(t, Config{})
		var scanned []string
		for _, name := range []string{"a", "b"} {
			guest := w.guest(Stack32K, func(h *Host, m Message) int32 {
				if m.Type == 1 {
					h.Wait(name, func() bool { scanned = append(scanned, name); return len(scanned) > 3 }, 0)
				}
				scanned = append(scanned, name+" goes on")
				return 1
			})
			w.from(guest, 1, "")
		}
		native := w.native(func(h *Host, m Message) bool {
			if h.SleepMs(1) != -1 || h.Wait("nothing", nil, 0) != -1 {
				t.Error("a native actor has blocked")
			}
			scanned = append(scanned, "native")
			return true
		})
		none := w.guest(StackNone, func(h *Host, m Message) int32 { scanned = append(scanned, "none"); return 1 })
		w.steps(2)
		w.from(native, 1, "")
		w.from(none, 1, "")
		w.steps(3)
		want := "a, a, b, native, a, b, none, a goes on, b goes on"
		if got := strings.Join(scanned, ", "); got != want {
			t.Errorf("happened %s, want %s", got, want)
		}
	})
}

func TestA_blocked_actor_stops_no_other(t *testing.T) {
	t.Run("E-STEP-5", func(t *testing.T) {
		w := newWorld(t, Config{})
		for range 50 {
			w.from(w.guest(Stack32K, func(h *Host, m Message) int32 { h.Recv(nil); return 1 }), 1, "")
		}
		w.steps(50)
		guest := w.guest(StackNone, echo)
		w.from(guest, msgPing, "x")
		w.steps(2)
		w.want(`t=51 52 sent 201 "x"`)
	})
}

func TestA_full_mailbox_makes_send_fail(t *testing.T) {
	t.Run("E-MSG-3", func(t *testing.T) {
		w := newWorld(t, Config{})
		full, _ := w.Spawn(GuestFunc(func(h *Host, m Message) int32 { h.Recv(nil); return 1 }), 2, Stack32K)
		sender := w.guest(Stack32K, func(h *Host, m Message) int32 {
			for range 4 {
				w.note("%d", h.Send(full, 1, nil))
			}
			w.note("%d", h.Send(99, 1, nil))
			return 1
		})
		w.from(sender, 1, "")
		w.steps(1)
		w.want("t=0 0", "t=0 0", "t=0 -1", "t=0 -1", "t=0 -1")
		if err := w.Send(full, 1, nil); err != ErrMailboxFull {
			t.Errorf("Send() = %v, want %v", err, ErrMailboxFull)
		}
		if err := w.Send(99, 1, nil); err != ErrNoActor {
			t.Errorf("Send() = %v, want %v", err, ErrNoActor)
		}
		w.steps(3) // the handler takes one and then the other
		if err := w.Send(full, 1, nil); err != nil {
			t.Errorf("Send() = %v, want room again", err)
		}
	})
}

// Taking a message out takes constant time. When each one moved all others up, this test took half a minute.
func TestA_flood_is_emptied_in_order(t *testing.T) {
	t.Run("E-MSG-1", func(t *testing.T) {
		const flood = 100_000
		w := newWorld(t, Config{})
		heard := int32(0)
		id, err := w.SpawnNative(func(_ *Host, m Message) bool { heard++; return m.Type == heard }, flood)
		if err != nil {
			t.Fatal(err)
		}
		send := func(from, to int32) {
			for typ := from; typ <= to; typ++ {
				if err := w.Send(id, typ, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		send(1, flood)
		if err := w.Send(id, 0, nil); err != ErrMailboxFull {
			t.Errorf("Send to a full mailbox = %v", err)
		}
		w.Run(func() bool { return heard == flood/2 })
		send(flood+1, flood+flood/2)
		if err := w.Run(func() bool { return heard == flood+flood/2 }); err != nil {
			t.Errorf("Run = %v after %d messages", err, heard)
		}
	})
}

func TestHandler_0_stops_1_keeps_a_trap_stops(t *testing.T) {
	t.Run("E-LIFE-1", func(t *testing.T) {
		boom := errors.New("boom")
		for _, class := range []StackClass{StackNone, Stack32K} {
			w := newWorld(t, Config{})
			handler := func(h *Host, m Message) int32 {
				if m.Type == 3 {
					if class != StackNone {
						h.SleepMs(5)
					}
					panic(boom)
				}
				h.Send(m.Source, msgPong, nil)
				return m.Type
			}
			one, zero, trap, other := w.guest(class, handler), w.guest(class, handler), w.guest(class,
				handler), w.guest(class, handler)
			w.from(one, 1, "")
			w.from(zero, 0, "")
			w.from(zero, 1, "")
			w.from(trap, 3, "")
			w.from(trap, 1, "")
			w.steps(20)
			w.from(other, 1, "")
			w.steps(2)
			var trapped *TrapError
			if err, ok := w.ended[trap]; !ok || !errors.As(err, &trapped) || trapped.Actor != trap ||
				!errors.Is(err, boom) || !strings.Contains(string(trapped.Stack), "TestHandler_0_stops") {
				t.Errorf("class %d: the trapped actor ended with %v", class, err)
			}
			if err, ok := w.ended[zero]; !ok || err != nil || len(w.ended) != 2 {
				t.Errorf("class %d: ended are %v", class, w.ended)
			}
			if got := len(w.trail); got != 3 { // one, zero once, other
				t.Errorf("class %d: %d answers, want 3: %v", class, got, w.trail)
			}
			if w.Send(zero, 1, nil) != ErrNoActor || w.Send(trap, 1, nil) != ErrNoActor {
				t.Errorf("class %d: an actor that is over got a message", class)
			}
		}
		t.Run("a native actor's too", func(t *testing.T) {
			w := newWorld(t, Config{})
			w.from(w.native(func(*Host, Message) bool { panic(boom) }), 1, "")
			w.from(w.native(func(*Host, Message) bool { return false }), 1, "")
			w.steps(2)
			if len(w.ended) != 2 || !errors.Is(w.ended[2], boom) || w.ended[3] != nil {
				t.Errorf("ended are %v", w.ended)
			}
		})
	})
}

// The runtime calls a wait's ready function, but the function belongs to the actor.
func TestA_panic_in_the_ready_function_of_a_wait_is_the_actors_trap(t *testing.T) {
	t.Run("E-LIFE-1", func(t *testing.T) {
		boom := errors.New("boom")
		w := newWorld(t, Config{Readiness: readiness(func(int32, bool) bool { panic(boom) })})
		cleaned := 0
		wait := func(wait func(h *Host)) ID {
			id := w.guest(Stack32K, func(h *Host, m Message) int32 {
				defer func() { cleaned++ }()
				wait(h)
				t.Error("it went on")
				return 1
			})
			w.from(id, 1, "")
			return id
		}
		panics := wait(func(h *Host) { h.Wait("", func() bool { panic(boom) }, 0) })
		descriptor := wait(func(h *Host) { h.WaitFDReadable(7, 10) })
		blocks := wait(func(h *Host) { h.Wait("", func() bool { h.SleepMs(1); return true }, 0) })
		stops := wait(func(h *Host) { h.Wait("", func() bool { w.Stop(h.Self()); panic(boom) }, 0) })
		other := w.guest(Stack32K, echo)
		w.from(other, msgSleepTest, "")
		w.steps(60)
		w.want(`t=55 6 sent 201 "slept"`)
		var trap *TrapError
		for _, id := range []ID{panics, descriptor} {
			if err := w.ended[id]; !errors.As(err, &trap) || trap.Actor != id || !errors.Is(err, boom) {
				t.Errorf("actor %d ended with %v", id, err)
			}
		}
		if err := w.ended[blocks]; err == nil || !strings.Contains(err.Error(), "only the handler itself may block") {
			t.Errorf("the actor whose ready function blocks ended with %v", err)
		}
		if err, ok := w.ended[stops]; !ok || err != nil || cleaned != 4 {
			t.Errorf("the actor whose ready function stops it ended: %t, with %v; %d have cleaned up", ok, err, cleaned)
		}
	})
}

// Stop drops a blocked fiber, with its wake condition.
func TestStop_while_blocked(t *testing.T) {
	t.Run("E-LIFE-2", func(t *testing.T) {
		for name, wait := range map[string]func(h *Host){
			"sleep":   func(h *Host) { h.SleepMs(10) },
			"message": func(h *Host) { h.Recv(nil) },
			"other": func(h *Host) {
				h.Wait("", func() bool { h.actor.runtime.config.Log(0, 0, "asked"); return false }, 10)
			},
		} {
			t.Run(name, func(t *testing.T) {
				stopped := false
				w := newWorld(t, Config{Log: func(ID, int32, string) {
					if stopped {
						t.Error("the condition was asked after the stop")
					}
				}})
				cleaned := false
				guest := w.guest(Stack32K, func(h *Host, m Message) int32 {
					defer func() { cleaned = true }()
					defer h.SleepMs(1) // refused, and not in the way
					wait(h)
					t.Error("its code went on")
					return 1
				})
				w.from(guest, 1, "")
				w.steps(1)
				if !w.Stop(guest) || w.Stop(guest) {
					t.Error("Stop() did not report the one actor")
				}
				stopped = true
				if err, ok := w.ended[guest]; !ok || err != nil || !cleaned || w.machine.Live() != 0 {
					t.Errorf("ended %t with %v, deferred functions ran: %t", ok, err, cleaned)
				}
				if w.Send(guest, 1, nil) != ErrNoActor {
					t.Error("it has got a message")
				}
				w.steps(20)
			})
		}
		t.Run("unblocked and not resumed yet", func(t *testing.T) {
			w := newWorld(t, Config{})
			guest := w.guest(Stack32K, func(h *Host, m Message) int32 { h.SleepMs(1); t.Error("it went on"); return 1 })
			w.from(guest, 1, "")
			w.steps(2)
			w.Stop(guest)
			w.steps(3)
		})
		t.Run("by itself, then blocked or returned", func(t *testing.T) {
			w := newWorld(t, Config{})
			var blocks, returns ID
			blocks = w.guest(Stack32K, func(h *Host, m Message) int32 {
				if !w.Stop(blocks) || w.Stop(blocks) {
					t.Error("Stop() did not report the one actor")
				}
				h.SleepMs(1)
				t.Error("it went on")
				return 1
			})
			returns = w.guest(StackNone, func(h *Host, m Message) int32 { w.Stop(h.Self()); return 1 })
			w.from(blocks, 1, "")
			w.from(returns, 1, "")
			w.steps(5)
			if len(w.ended) != 2 {
				t.Errorf("ended are %v", w.ended)
			}
		})
	})
}

func TestSend_self_log_for_every_class(t *testing.T) {
	t.Run("E-HOST-1", func(t *testing.T) {
		var logged []string
		w := newWorld(t, Config{Log: func(from ID, level int32, text string) { logged = append(logged, text) }})
		for _, class := range []StackClass{StackNone, Stack32K, Stack64K, Stack128K} {
			payload := []byte("mine")
			guest := w.guest(class, func(h *Host, m Message) int32 {
				h.Log(2, "hello")
				h.Send(w.tester, int32(h.Self()), payload)
				payload[0] = 'M' // the receiver has its own copy
				return 1
			})
			w.from(guest, 1, "")
		}
		w.steps(8)
		w.want(`t=4 2 sent 2 "mine"`, `t=5 3 sent 3 "mine"`, `t=6 4 sent 4 "mine"`, `t=7 5 sent 5 "mine"`)
		if !slices.Equal(logged, []string{"hello", "hello", "hello", "hello"}) {
			t.Errorf("logged %v", logged)
		}
	})
}

// A host builds a higher-level blocking call from Wait: this one gets its result from a goroutine.
func TestHigher_blocking_calls(t *testing.T) {
	t.Run("E-HOST-1", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := New(Config{})
			defer r.Close()
			get := func(h *Host) (body string) {
				c := make(chan string, 1)
				go func() {
					time.Sleep(20 * time.Millisecond) // the server
					c <- "body"
				}()
				if h.Wait("a server", func() bool { return len(c) > 0 }, 1000) == 0 {
					body = <-c
				}
				return body
			}
			var got []string
			gets := GuestFunc(func(h *Host, m Message) int32 { got = append(got, get(h)); return 1 })
			guest, _ := r.Spawn(gets, 1, Stack32K)
			r.Send(guest, 1, nil)
			if err := r.Run(func() bool { return len(got) > 0 }); err != nil || got[0] != "body" {
				t.Errorf("Run() = %v, got %v", err, got)
			}
		})
	})
}

type readiness func(fd int32, write bool) bool

func (f readiness) Ready(fd int32, write bool) bool { return f(fd, write) }

// panics is a guest whose Open panics.
type panics struct{ GuestFunc }

func (panics) Open(StackClass) error { panic("no resources") }
func (panics) Close()                {}

func TestAn_actor_whose_Open_panics_does_not_exist(t *testing.T) {
	t.Run("E-SPAWN-2 E-LIFE-1", func(t *testing.T) {
		w := newWorld(t, Config{StackMemory: 64 << 10})
		parent := w.guest(StackNone, func(h *Host, m Message) int32 { w.Spawn(panics{echo}, 1, Stack64K); return 1 })
		w.from(parent, 1, "")
		w.steps(1)
		if err := w.ended[parent]; err == nil || !strings.Contains(err.Error(), "no resources") {
			t.Errorf("its parent ended with %v", err)
		}
		if err := w.Send(parent+1, 1, nil); err != ErrNoActor || w.machine.Live() != 0 {
			t.Errorf("Send to it = %v, and %d fibers are alive", err, w.machine.Live())
		}
		w.guest(Stack64K, echo)
	})
}
