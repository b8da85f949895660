package wasm

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/fiberfill/fiberfill/asyncio/actors"
	"github.com/fiberfill/fiberfill/internal/leaktest"
)

// world is a runtime with a tester, and keeps the answers sent to the tester.
type world struct {
	*testing.T
	*actors.Runtime
	clock   actors.VirtualClock
	tester  *actors.Host
	answers []actors.Message
	ended   map[actors.ID]error
}

func newWorld(t *testing.T, config actors.Config) *world {
	w := &world{T: t, ended: map[actors.ID]error{}}
	if config.Clock == nil {
		config.Clock = &w.clock
	}
	config.Ended = func(id actors.ID, err error) { w.ended[id] = err }
	w.Runtime = actors.New(config)
	id, _ := w.SpawnNative(func(h *actors.Host, m actors.Message) bool {
		if w.tester = h; m.Source != 0 {
			w.answers = append(w.answers, m)
		}
		return true
	}, 100)
	w.Send(id, 0, nil)
	w.Step()
	t.Cleanup(w.Close)
	return w
}

func (w *world) guest(m *Module, class actors.StackClass) (actors.ID, *instance) {
	w.Helper()
	guest := m.Guest().(*instance)
	id, err := w.Spawn(guest, 10, class)
	if err != nil {
		w.Fatal(err)
	}
	return id, guest
}

func (w *world) from(to actors.ID, typ int32, numbers ...int32) {
	w.Helper()
	var payload []byte
	for _, n := range numbers {
		payload = binary.LittleEndian.AppendUint32(payload, uint32(n))
	}
	if w.tester.Send(to, typ, payload) != 0 {
		w.Errorf("actor %d has not got message %d", to, typ)
	}
}

func (w *world) steps(n int) {
	for range n {
		w.Step()
		w.clock.Sleep(time.Millisecond)
	}
}

func numbers(m actors.Message) (list []uint32) {
	for at := 0; at+4 <= len(m.Payload); at += 4 {
		list = append(list, binary.LittleEndian.Uint32(m.Payload[at:]))
	}
	return list
}

// The same scenario by the machine's clock. It checks the order, and a generous bound on the time.
func TestSleep_by_the_real_clock(t *testing.T) {
	t.Run("S-SLEEP", func(t *testing.T) {
		w := newWorld(t, actors.Config{Clock: actors.RealClock()})
		guest, _ := w.guest(compile(t, guestPath, Options{}), actors.Stack32K)
		other, _ := w.SpawnNative(native, 10)
		start := time.Now()
		w.from(guest, 204)
		w.from(other, 200)
		var order []string
		err := w.Runtime.Run(func() bool {
			for _, m := range w.answers[len(order):] {
				order = append(order, string(m.Payload))
				if slept := string(m.Payload) == "slept"; slept && time.Since(start) < 50*time.Millisecond {
					t.Errorf("slept for %v", time.Since(start))
				}
			}
			return len(order) == 2
		})
		if err != nil || order[0] != "pong" || order[1] != "slept" {
			t.Errorf("Run() = %v, answers %q", err, order)
		}
		w.from(guest, 200)
		if err := w.Runtime.Run(func() bool { return len(w.answers) == 3 }); err != nil {
			t.Errorf("it is not alive: %v", err)
		}
	})
}

func TestThe_class_is_the_size_of_the_stack(t *testing.T) {
	t.Run("E-SPAWN-2 E-CLASS-1", func(t *testing.T) {
		w := newWorld(t, actors.Config{})
		m := compile(t, guestPath, Options{})
		_, none := w.guest(m, actors.StackNone)
		if none.guard != 0 {
			t.Error("class none has got a region")
		}
		for _, class := range []actors.StackClass{actors.Stack32K, actors.Stack64K, actors.Stack128K} {
			_, in := w.guest(m, class)
			if size := in.high - in.guard - guardSize; size != uint32(class) || in.guard < none.memory.Size() ||
				in.high > in.memory.Size() {
				t.Errorf("class %d has a stack of %d bytes at %d in a memory of "+
					"%d", class, size, in.guard, in.memory.Size())
			}
		}
		if size := none.memory.Size(); size != 2*pageSize {
			t.Errorf("the memory of class none has %d bytes", size)
		}
	})
}

// Without malloc and without memory that the host may grow, the spawn fails and leaves nothing behind.
func TestNo_room_for_the_stack(t *testing.T) {
	t.Run("E-SPAWN-2", func(t *testing.T) {
		w := newWorld(t, actors.Config{})
		m := compile(t, "testdata/grows.wasm", Options{})
		if id, err := w.Spawn(m.Guest(), 10, actors.Stack32K); !errors.Is(err, actors.ErrNoStack) ||
			!errors.Is(err, ErrRoom) || id != 0 {
			t.Errorf("Spawn() = %d, %v", id, err)
		}
		none, _ := w.guest(m, actors.StackNone)
		w.from(none, 1)
		w.steps(1)
		if len(w.ended) != 0 {
			t.Errorf("class none has ended: %v", w.ended)
		}
		w.from(none, 1, 2)
		w.steps(1)
		if !errors.Is(w.ended[none], ErrRoom) {
			t.Errorf("a payload that nobody has room for: %v", w.ended[none])
		}
	})
}

// If the guest exports malloc and free, the region and the payloads come from malloc. Payloads reuse one buffer.
func TestStack_and_payload_from_the_guests_allocator(t *testing.T) {
	w := newWorld(t, actors.Config{})
	id, in := w.guest(compile(t, "testdata/malloc.wasm", Options{}), actors.Stack64K)
	if in.guard%16 != 0 || in.guard < 70001 || in.guard >= 70001+16 {
		t.Errorf("the region is at %d", in.guard)
	}
	if in.high-in.guard != guardSize+65536 {
		t.Errorf("it has %d bytes", in.high-in.guard)
	}
	w.from(id, 1, 1, 2, 3)
	w.from(id, 2, make([]int32, 64)...)
	w.from(id, 2, make([]int32, 65)...)
	w.from(id, 2)
	w.steps(20)
	if len(w.answers) != 4 {
		t.Fatalf("%d answers: %v", len(w.answers), w.ended)
	}
	first := numbers(w.answers[0])[0]
	for i, want := range [][]uint32{{first, in.high - 16, 2, 0}, {first, in.high - 16, 2, 0},
		{first + 256, in.high - 16, 3, 1}, {0, in.high - 16, 3, 1}} {
		if got := numbers(w.answers[i]); !slices.Equal(got, want) {
			t.Errorf("message %d: payload, local, mallocs, frees %v, want %v", i, got, want)
		}
	}
}

// A guest that is stopped while blocked runs no more code, and leaves nothing behind.
func TestStop_drops_the_stack(t *testing.T) {
	t.Run("E-LIFE-2", func(t *testing.T) {
		leaktest.Goroutines(t)
		w := newWorld(t, actors.Config{})
		id, in := w.guest(compile(t, guestPath, Options{}), actors.Stack32K)
		w.from(id, 306, 20)
		w.steps(1)
		pointer, memory := in.pointer.Get(), in.memory
		used, _ := memory.Read(uint32(pointer), in.high-uint32(pointer))
		copied := slices.Clone(used)
		if len(used) < 20*256 {
			t.Fatalf("it is blocked with %d bytes of stack", len(used))
		}
		if info, _ := w.Info(id); !info.Blocked || !w.Stop(id) {
			t.Fatal("it is not blocked")
		}
		w.steps(10)
		if in.pointer.Get() != pointer || !slices.Equal(used, copied) {
			t.Error("the guest has run")
		}
		if err, ok := w.ended[id]; err != nil || !ok || len(w.answers) != 0 || !in.wasm.IsClosed() {
			t.Errorf("ended with %v, %d answers, closed %t", err, len(w.answers), in.wasm.IsClosed())
		}
		w.Close()
	})
}

// This holds even if the guest catches everything: a dropped stack is not unwound by an exception.
func TestStop_cannot_be_caught(t *testing.T) {
	t.Run("E-LIFE-2", func(t *testing.T) {
		w := newWorld(t, actors.Config{Log: func(id actors.ID, _ int32, _ string) { t.Errorf("actor %d runs", id) }})
		waits := Import{Params: []api.ValueType{i32}, Results: []api.ValueType{i32},
			Call: func(h *actors.Host, _ api.Memory, stack []uint64) {
				h.Wait("nothing", func() bool { return false }, 0)
			}}
		m := compile(t, "testdata/stubborn.wasm", Options{Imports: map[string]Import{"twice": waits}})
		for typ := range int32(2) {
			id, _ := w.guest(m, actors.Stack32K)
			w.from(id, typ+1)
			w.steps(1)
			if !w.Stop(id) {
				t.Error("it is over already")
			}
			w.steps(20)
		}
		if len(w.answers) != 0 {
			t.Errorf("answers %v", w.answers)
		}
	})
}

func TestStack_overflow_is_a_trap_that_says_so(t *testing.T) {
	t.Run("E-LIFE-1 E-CLASS-1", func(t *testing.T) {
		w := newWorld(t, actors.Config{})
		m := compile(t, guestPath, Options{})
		id, _ := w.guest(m, actors.Stack32K)
		other, _ := w.guest(m, actors.Stack32K)
		w.from(other, 300, 5)
		w.from(id, 306, 130)
		w.steps(10)
		if err := w.ended[id]; !errors.Is(err, ErrStack) || !strings.Contains(err.Error(), "32768") {
			t.Errorf("ended with %v", err)
		}
		if len(w.answers) != 1 || w.answers[0].Source != other {
			t.Errorf("the other has answered %v", w.answers)
		}
	})
}

// A function with one local writes one word in 16 bytes, so the check must look at every word.
func TestStack_overflow_is_found_in_every_word(t *testing.T) {
	t.Run("E-CLASS-1", func(t *testing.T) {
		w := newWorld(t, actors.Config{})
		m := compile(t, guestPath, Options{})
		for at := uint32(0); at < guardSize; at += 4 {
			id, in := w.guest(m, actors.Stack32K)
			in.memory.WriteUint32Le(in.guard+at, 1)
			w.from(id, 300)
			w.steps(3)
			if err := w.ended[id]; !errors.Is(err, ErrStack) {
				t.Errorf("word at %d: the actor ended with %v", at, err)
			}
		}
	})
}

// A host makes a higher-level blocking call of its own: it asks a server, and to the guest the call just takes a while.
func TestHigher_blocking_calls(t *testing.T) {
	t.Run("E-HOST-1", func(t *testing.T) {
		w := newWorld(t, actors.Config{Clock: actors.RealClock()})
		twice := Import{Params: []api.ValueType{i32}, Results: []api.ValueType{i32},
			Call: func(h *actors.Host, _ api.Memory, stack []uint64) {
				answer := make(chan uint64, 1)
				n := stack[0]
				go func() { answer <- 2 * n }() // the server
				stack[0] = 0
				if h.Wait("the server", func() bool { return len(answer) > 0 }, 0) == 0 {
					stack[0] = <-answer
				}
			}}
		m := compile(t, "testdata/plain.wasm", Options{Imports: map[string]Import{"twice": twice}})
		fiber, _ := w.guest(m, actors.Stack32K)
		none, _ := w.guest(m, actors.StackNone)
		w.from(fiber, 21)
		w.from(none, 21)
		if err := w.Runtime.Run(func() bool { return len(w.answers) == 2 }); err != nil {
			t.Fatal(err)
		}
		for _, m := range w.answers {
			if want := map[actors.ID]int32{fiber: 42, none: 0}[m.Source]; m.Type != want {
				t.Errorf("actor %d has answered %d, want %d", m.Source, m.Type, want)
			}
		}
	})
}

func TestFactory(t *testing.T) {
	t.Run("E-SPAWN-1", func(t *testing.T) {
		w := newWorld(t, actors.Config{})
		factory := actors.Factory{Guest: compile(t, guestPath, Options{}).Guest, Mailbox: 3, Class: actors.Stack64K}
		for range 2 {
			id, err := w.SpawnFrom(factory)
			if err != nil {
				t.Fatal(err)
			}
			w.from(id, 204)
		}
		w.steps(60)
		if len(w.answers) != 2 || w.answers[0].Source == w.answers[1].Source {
			t.Errorf("answers %v", w.answers)
		}
	})
}

func TestCompile_says_what_is_wrong(t *testing.T) {
	for path, want := range map[string]error{
		"wasm.go":                               ErrModule,
		"../../../examples/c-fetch/guest.wasm":  ErrExport,
		"testdata/plain.wasm":                   ErrImport,
		"testdata/untyped.wasm":                 ErrExport,
		"../../../examples/c-actor/guest.wasm!": ErrModule, // cut off
	} {
		bytes, err := os.ReadFile(strings.TrimSuffix(path, "!"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "!") {
			bytes = bytes[:len(bytes)/2]
		}
		if m, err := Compile(t.Context(), bytes, Options{Name: path}); !errors.Is(err, want) || m != nil ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("Compile(%s) = %v, want %v", path, err, want)
		}
	}
	_, err := Compile(t.Context(), []byte("hello"), Options{})
	if want := "actors: the guest: the module cannot be an actor: a wasm file starts with the bytes 00 61 73 6d, " +
		"this one with 68 65 6c 6c"; err == nil || err.Error() != want {
		t.Errorf("Compile() = %v, want %s", err, want)
	}
	wrong := map[string]Import{"twice": {Params: []api.ValueType{i64}, Results: []api.ValueType{i32}}}
	bytes, _ := os.ReadFile("testdata/plain.wasm")
	if _, err := Compile(t.Context(), bytes, Options{Imports: wrong}); !errors.Is(err, ErrImport) ||
		!strings.Contains(err.Error(), "twice") {
		t.Errorf("Compile() = %v for an import of another type", err)
	}
}
