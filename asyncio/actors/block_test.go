package actors

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestDescriptor_ready_timeout_for_ever_and_class_none(t *testing.T) {
	t.Run("E-FD-1 E-FD-2", func(t *testing.T) {
		readable, writable := false, false
		config := Config{Readiness: readiness(func(fd int32, write bool) bool {
			if fd != 7 {
				t.Errorf("asked for descriptor %d", fd)
			}
			return write && writable || !write && readable
		})}
		wait := func(write bool, timeout int32) (*world, ID) {
			w := newWorld(t, config)
			guest := w.guest(Stack32K, func(h *Host, m Message) int32 {
				if write {
					w.note("%d", h.WaitFDWritable(7, timeout))
				} else {
					w.note("%d", h.WaitFDReadable(7, timeout))
				}
				return 1
			})
			w.from(guest, 1, "")
			return w, guest
		}
		for _, write := range []bool{false, true} {
			flag := &readable
			if write {
				flag = &writable
			}
			w, _ := wait(write, 50)
			w.steps(10)
			w.want()
			*flag = true
			w.steps(2)
			w.want("t=11 0")
			*flag = false

			w, _ = wait(write, 50)
			w.steps(60)
			w.want("t=51 -1")

			for _, timeout := range []int32{0, -1} {
				w, guest := wait(write, timeout)
				w.steps(1000)
				if info, _ := w.Info(guest); !info.Blocked || info.Deadline != 0 {
					t.Errorf("timeout %d: %+v, want it to wait for ever", timeout, info)
				}
				*flag = true
				w.steps(2)
				w.want("t=1001 0")
				*flag = false
			}
		}
		for name, w := range map[string]*world{"class none": newWorld(t, config), "no source": newWorld(t, Config{})} {
			class := StackNone
			if name == "no source" {
				class = Stack32K
			}
			guest := w.guest(class, func(h *Host, m Message) int32 {
				w.note("%d %d", h.WaitFDReadable(7, 0), h.WaitFDWritable(7, 10))
				return 1
			})
			w.from(guest, 1, "")
			w.steps(1)
			w.want("t=0 -1 -1")
		}
	})
}

func TestDescriptor_ready_at_its_deadline_is_ready(t *testing.T) {
	t.Run("E-FD-3", func(t *testing.T) {
		ready := false
		w := newWorld(t, Config{Readiness: readiness(func(int32, bool) bool { return ready })})
		guest := w.guest(Stack32K, func(h *Host, m Message) int32 { w.note("%d", h.WaitFDReadable(7, 10)); return 1 })
		w.from(guest, 1, "")
		w.steps(1)
		w.clock.Sleep(time.Second)
		ready = true // ready and late in the same step
		w.steps(1)
		ready = false // the result of the scan counts
		w.steps(1)
		w.want("t=1002 0")
	})
}

func TestRecv_blocks_until_the_next_message_and_copies_what_fits(t *testing.T) {
	t.Run("E-RECV-1", func(t *testing.T) {
		w := newWorld(t, Config{})
		handle := func(h *Host, m Message) int32 {
			buf := []byte("......")
			typ, size, result := h.Recv(buf[:4])
			w.note("%d %d %d %s", typ, size, result, buf)
			return 1
		}
		guest, none := w.guest(Stack32K, handle), w.guest(StackNone, handle)
		w.from(guest, 1, "")
		w.steps(10)
		w.want()
		w.from(guest, 300, "long message")
		w.steps(2)
		w.want("t=11 300 12 0 long..")
		w.from(none, 1, "")
		w.from(none, 300, "kept")
		w.steps(1)
		w.want("t=12 0 0 -1 ......")
		if info, _ := w.Info(none); info.Mailbox != 1 {
			t.Error("the failed call has taken a message")
		}
	})
}

// Recv takes messages from the mailbox at once, in order; the handler is not called for them.
func TestRecv_takes_the_head_at_once(t *testing.T) {
	t.Run("E-RECV-2", func(t *testing.T) {
		w := newWorld(t, Config{})
		guest := w.guest(Stack32K, func(h *Host, m Message) int32 {
			w.note("handles %d", m.Type)
			if m.Type == 1 {
				for range 2 {
					typ, _, _ := h.Recv(nil)
					w.note("receives %d", typ)
				}
			}
			return 1
		})
		for typ := range int32(4) {
			w.from(guest, typ+1, "")
		}
		w.steps(5)
		w.want("t=0 handles 1", "t=0 receives 2", "t=0 receives 3", "t=1 handles 4")
	})
}

func TestRun_goes_on_while_there_is_work(t *testing.T) {
	w := newWorld(t, Config{Readiness: readiness(func(int32, bool) bool { return true })})
	receiver := w.guest(Stack32K, func(h *Host, m Message) int32 {
		h.Recv(nil)
		w.note("received")
		h.SleepMs(1000)
		w.note("slept")
		h.WaitFDReadable(1, 0)
		w.note("ready")
		h.Recv(nil)
		return 1
	})
	sender := w.native(func(h *Host, m Message) bool { h.Send(receiver, 1, nil); return true })
	w.from(receiver, 1, "")
	w.from(sender, 1, "")
	err := w.Run(func() bool { return false })
	idle, ok := err.(*IdleError)
	if !ok || len(idle.Blocked) != 1 || idle.Blocked[0] != "2 waits for a message" {
		t.Errorf("Run() = %v, want an error that says that actor 2 waits for a message", err)
	}
	w.want("t=0 received", "t=1000 slept", "t=1001 ready")
}

func TestRun_does_not_sleep_when_the_last_step_has_met_the_condition(t *testing.T) {
	w := newWorld(t, Config{})
	w.from(w.guest(Stack32K, func(h *Host, m Message) int32 { h.SleepMs(1000); return 1 }), 1, "")
	done := false
	w.from(w.native(func(*Host, Message) bool { done = true; return true }), 1, "")
	if err := w.Run(func() bool { return done }); err != nil || w.clock.Now() != 0 {
		t.Errorf("Run() = %v at %v", err, w.clock.Now())
	}
}

// A single-threaded program hears of the world in the condition.
func TestRun_does_not_sleep_over_what_the_condition_sends(t *testing.T) {
	w := newWorld(t, Config{})
	heard := 0
	id := w.native(func(*Host, Message) bool { heard++; return true })
	for _, before := range []int{0, 1} { // before the step, before the sleep
		asked := 0
		until := func() bool {
			if asked == before {
				w.from(id, 1, "")
			}
			asked++
			return heard > before
		}
		if err := w.Run(until); err != nil || w.clock.Now() != 0 {
			t.Errorf("Run() = %v at %v", err, w.clock.Now())
		}
		w.from(w.guest(Stack32K, func(h *Host, m Message) int32 { h.SleepMs(1000); return 1 }), 1, "")
	}
}

func TestMisuse_panics_with_the_reason(t *testing.T) {
	w := newWorld(t, Config{})
	var other *Host
	for want, misuse := range map[string]func(h *Host){
		"Step inside a step":                 func(*Host) { w.Step() },
		"Close inside a step":                func(*Host) { w.Close() },
		"only the handler itself may block":  func(*Host) { other.SleepMs(1) },
		"Host.Recv of actor":                 func(*Host) { other.Recv(nil) },
		"its handler does not run: only the": func(*Host) { other.Wait("", nil, 0) },
	} {
		blocked := w.guest(Stack32K, func(h *Host, m Message) int32 { other = h; h.Recv(nil); return 1 })
		bad := w.guest(Stack32K, func(h *Host, m Message) int32 { misuse(h); return 1 })
		w.from(blocked, 1, "")
		w.from(bad, 1, "")
		w.steps(2)
		if err := w.ended[bad]; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ended with %v, want %s", err, want)
		}
		if info, ok := w.Info(blocked); !ok || !info.Blocked {
			t.Errorf("%s: the other actor is %+v", want, info)
		}
	}
}

func TestClose_is_the_end(t *testing.T) {
	w := newWorld(t, Config{})
	ended := w.config.Ended
	var order []ID
	w.config.Ended = func(id ID, err error) {
		ended(id, err)
		order = append(order, id)
		if _, err := w.Spawn(GuestFunc(echo), 1, StackNone); err != ErrClosed {
			t.Errorf("Spawn() = %v, want %v", err, ErrClosed)
		}
	}
	for range 3 {
		w.from(w.guest(Stack32K, func(h *Host, m Message) int32 { h.Recv(nil); return 1 }), 1, "")
	}
	w.steps(2)
	w.Close()
	w.Close()
	if len(order) != 4 || order[0] != 4 || order[3] != 1 || w.Step() {
		t.Errorf("closed %v, want the last spawned first", order)
	}
}

// A handler that ends the goroutine ends the runtime, and no goroutine is left.
func TestGoexit_closes_the_runtime(t *testing.T) {
	w := newWorld(t, Config{})
	w.from(w.guest(Stack32K, func(h *Host, m Message) int32 { h.Recv(nil); return 1 }), 1, "")
	w.from(w.guest(Stack32K, func(h *Host, m Message) int32 { runtime.Goexit(); return 1 }), 1, "")
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.steps(2)
		t.Error("Step returned")
	}()
	<-done
	if len(w.actors) != 0 || w.machine.Live() != 0 {
		t.Errorf("%d actors and %d fibers are left", len(w.actors), w.machine.Live())
	}
}
