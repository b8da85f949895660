package actors

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/internal/leaktest"
	"github.com/fiberfill/fiberfill/polyfill"
)

// The messages of the test module (E-TEST-1).
const (
	msgPing      = 200
	msgPong      = 201
	msgSleepTest = 204
	msgNoFiber   = 207
)

// echo is the guest of scenario S-SLEEP: it answers pings, and sleeps in the middle of its handler.
func echo(h *Host, m Message) int32 {
	switch m.Type {
	case msgPing:
		h.Send(m.Source, msgPong, m.Payload)
	case msgSleepTest:
		before := m // this local must be intact after the sleep
		if h.SleepMs(50) != 0 {
			h.Send(m.Source, msgNoFiber, []byte("no_fiber"))
			return 1
		}
		h.Send(before.Source, msgPong, []byte("slept"))
	}
	return 1
}

// world is a runtime on a virtual clock that advances 1 ms a step, with a tester: a native actor that notes its
// messages.
type world struct {
	testing.TB
	*Runtime
	clock  *VirtualClock
	ended  map[ID]error
	tester ID
	trail  []string
}

// newWorld makes a world. At the end of the test it closes the world and checks that nothing is left.
func newWorld(t *testing.T, config Config) *world {
	leaktest.Goroutines(t)
	w := &world{TB: t, clock: &VirtualClock{}, ended: map[ID]error{}}
	config.Clock = w.clock
	config.Ended = func(id ID, err error) {
		if _, twice := w.ended[id]; twice {
			t.Errorf("actor %d ended twice", id)
		}
		w.ended[id] = err
	}
	w.Runtime = New(config)
	w.tester, _ = w.SpawnNative(func(h *Host, m Message) bool {
		w.note("%d sent %d %q", m.Source, m.Type, m.Payload)
		return true
	}, 100)
	t.Cleanup(func() {
		w.Close()
		if w.machine.Live() != 0 || len(w.actors) != 0 || w.memory != 0 {
			t.Errorf("%d fibers, %d actors and %d bytes of stacks are left", w.machine.Live(), len(w.actors), w.memory)
		}
	})
	return w
}

func (w *world) note(format string, args ...any) {
	w.trail = append(w.trail, fmt.Sprintf("t=%d ", w.clock.Now().Milliseconds())+fmt.Sprintf(format, args...))
}

func (w *world) guest(class StackClass, handle GuestFunc) ID {
	w.Helper()
	id, err := w.Spawn(handle, 10, class)
	if err != nil {
		w.Fatal(err)
	}
	return id
}

func (w *world) native(handle Native) ID {
	w.Helper()
	id, err := w.SpawnNative(handle, 10)
	if err != nil {
		w.Fatal(err)
	}
	return id
}

// from sends a message whose source is the tester.
func (w *world) from(to ID, typ int32, payload string) {
	w.Helper()
	if err := w.send(w.tester, to, typ, []byte(payload)); err != nil {
		w.Error(err)
	}
}

// steps does n steps, 1 ms each.
func (w *world) steps(n int) {
	for range n {
		w.Step()
		if active := w.machine.Active(); active != 0 {
			w.Errorf("K-1: after a step fiber %#x is active", active)
		}
		for id, a := range w.actors {
			if a.fiber != nil && w.machine.State(a.fiber.ref) != polyfill.Suspended {
				w.Errorf("after a step the fiber of actor %d is %v", id, w.machine.State(a.fiber.ref))
			}
		}
		w.clock.Sleep(time.Millisecond)
	}
}

func (w *world) want(want ...string) {
	w.Helper()
	if got := strings.Join(w.trail, "\n\t"); got != strings.Join(want, "\n\t") {
		w.Errorf("happened\n\t%s\nwant\n\t%s", got, strings.Join(want, "\n\t"))
	}
	w.trail = nil
}
