package wasm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/asyncio/actors"
)

const (
	guestPath     = "../../../examples/c-actor/guest.wasm"
	scenariosPath = "../../../examples/c-actor/scenarios.txt"
)

// jsglue/test/actors_test.mjs plays the same scenarios on JSPI, with the same outcome.
func TestScenarios(t *testing.T) {
	m := compile(t, guestPath, Options{})
	scenarios, err := os.ReadFile(scenariosPath)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split("\n"+string(scenarios), "\n== ")
	for _, scenario := range parts[1:] {
		title, script, _ := strings.Cut(scenario, "\n")
		t.Run(title, func(t *testing.T) {
			want := strings.TrimSpace(script)
			if got := strings.TrimSpace(play(t, m, script)); got != want {
				t.Errorf("happened, after the commands:\n%s\n\nwant:\n%s", got, want)
			}
		})
	}
	if len(parts) < 20 {
		t.Errorf("%d scenarios", len(parts)-1)
	}
}

// compile compiles a module and closes it at the end of the test.
func compile(t *testing.T, path string, options Options) *Module {
	t.Helper()
	bytes, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Compile(t.Context(), bytes, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// player plays one scenario.
type player struct {
	*testing.T
	runtime *actors.Runtime
	clock   actors.VirtualClock
	module  *Module
	tester  *actors.Host
	ready   map[string]bool // "7 r"
	live    map[actors.ID]bool
	seen    strings.Builder
	fibers  int
}

// Ready makes the player the runtime's Readiness.
func (p *player) Ready(fd int32, write bool) bool {
	return p.ready[fmt.Sprint(fd, " ", map[bool]string{false: "r", true: "w"}[write])]
}

func (p *player) see(format string, args ...any) {
	fmt.Fprintf(&p.seen, "    t=%d %s\n", p.clock.Now().Milliseconds(), fmt.Sprintf(format, args...))
}

// play runs a script. It returns the script's commands, each followed by the events that it caused.
func play(t *testing.T, m *Module, script string) string {
	p := &player{T: t, module: m, ready: map[string]bool{}}
	p.runtime = actors.New(actors.Config{
		Clock:     &p.clock,
		Readiness: p,
		Log:       func(from actors.ID, level int32, text string) { p.see("%d logs %d %q", from, level, text) },
		Ended:     p.ended,
	})
	tester, _ := p.runtime.SpawnNative(func(h *actors.Host, m actors.Message) bool {
		if p.tester = h; m.Source == 0 {
			return true
		}
		p.see("%d sent %d %s", m.Source, m.Type, payload(m))
		return true
	}, 100)
	p.runtime.Send(tester, 0, nil)
	p.runtime.Step()
	for _, line := range strings.Split(script, "\n") {
		if line == "" || line[0] == ' ' || line[0] == '#' {
			continue
		}
		fmt.Fprintln(&p.seen, line)
		p.command(line)
	}
	seen := p.seen.String()
	p.runtime.Close()
	if p.fibers != 0 {
		t.Errorf("%d fibers are left", p.fibers)
	}
	return seen
}

// payload returns a message's payload as text: the tester's answers are words or numbers.
func payload(m actors.Message) string {
	words := func(bytes []byte) (text string) {
		for ; len(bytes) >= 4; bytes = bytes[4:] {
			text += fmt.Sprint(" ", int32(binary.LittleEndian.Uint32(bytes)))
		}
		return strings.TrimSpace(text)
	}
	switch {
	case m.Type < 300:
		return strconv.Quote(string(m.Payload))
	case m.Type == 301:
		return words(m.Payload[:12]) + " " + strconv.Quote(string(m.Payload[12:]))
	}
	return words(m.Payload)
}

func (p *player) ended(id actors.ID, err error) {
	info, ok := p.runtime.Info(id)
	trap := (*actors.TrapError)(nil)
	switch {
	case ok:
		p.Errorf("actor %d has ended and is %+v", id, info)
	case err == nil:
		p.see("%d over", id)
	case !errors.As(err, &trap):
		p.Errorf("actor %d ended with %v", id, err)
	case errors.Is(err, ErrStack), errors.Is(err, ErrAddress):
		p.see("%d over: trapped by the host", id)
	case !strings.Contains(err.Error(), "unreachable"):
		p.Errorf("actor %d ended with %v", id, err)
	default:
		p.see("%d over: trapped", id)
	}
	if p.live[id] {
		p.fibers--
	}
}

func (p *player) command(line string) {
	p.Helper()
	word := strings.Fields(line)
	number := func(i int) int {
		n, err := strconv.Atoi(word[i])
		if err != nil {
			p.Fatalf("%q: %v", line, err)
		}
		return n
	}
	room := 10
	switch word[0] {
	case "spawn":
		if len(word) > 2 {
			room = number(2)
		}
		class := actors.StackClass(number(1))
		id, err := p.runtime.Spawn(p.module.Guest(), room, class)
		p.spawned(id, class, err)
	case "native":
		id, err := p.runtime.SpawnNative(native, room)
		p.spawned(id, 0, err)
	case "send":
		p.send(line, actors.ID(number(1)), int32(number(2)))
	case "steps":
		for range number(1) {
			p.runtime.Step()
			p.clock.Sleep(time.Millisecond)
		}
	case "pass":
		p.clock.Sleep(time.Duration(number(1)) * time.Millisecond)
	case "info":
		p.info(actors.ID(number(1)))
	case "stop":
		if !p.runtime.Stop(actors.ID(number(1))) {
			p.see("there is no such actor")
		}
	case "ready", "unready":
		p.ready[word[1]+" "+word[2]] = word[0] == "ready"
	case "fibers":
		p.see("%d fibers", p.fibers)
	default:
		p.Fatalf("no such command: %s", line)
	}
}

// native answers a ping with a pong; it cannot block.
func native(h *actors.Host, m actors.Message) bool {
	if m.Type == 200 {
		return h.Send(m.Source, 201, []byte("pong")) == 0
	}
	result := h.SleepMs(10)
	return h.Send(m.Source, m.Type, binary.LittleEndian.AppendUint32(nil, uint32(result))) == 0
}

func (p *player) spawned(id actors.ID, class actors.StackClass, err error) {
	if err != nil {
		p.see("%s", map[error]string{actors.ErrClass: "not a class", actors.ErrMailbox: "not a mailbox"}[err])
		return
	}
	p.see("%d is alive", id)
	if class != 0 {
		if p.live == nil {
			p.live = map[actors.ID]bool{}
		}
		p.live[id] = true
		p.fibers++
	}
}

func (p *player) send(line string, to actors.ID, typ int32) {
	rest := strings.SplitN(line, " ", 4)
	var bytes []byte
	switch {
	case len(rest) < 4:
	case rest[3][0] == '"':
		text, err := strconv.Unquote(rest[3])
		if err != nil {
			p.Fatalf("%q: %v", line, err)
		}
		bytes = []byte(text)
	default:
		for _, word := range strings.Fields(rest[3]) {
			n, err := strconv.ParseInt(word, 10, 32)
			if err != nil {
				p.Fatalf("%q: %v", line, err)
			}
			bytes = binary.LittleEndian.AppendUint32(bytes, uint32(n))
		}
	}
	if p.tester.Send(to, typ, bytes) != 0 {
		p.see("refused")
	}
}

func (p *player) info(id actors.ID) {
	i, ok := p.runtime.Info(id)
	if !ok {
		p.see("there is no such actor")
		return
	}
	state := "not blocked"
	if i.Blocked && i.Deadline != 0 {
		state = fmt.Sprint("blocked until ", i.Deadline.Milliseconds())
	} else if i.Blocked {
		state = "blocked"
	}
	p.see("%d has class %d, is %s, %d in the mailbox", id, i.Class, state, i.Mailbox)
}
