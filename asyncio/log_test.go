package asyncio

import (
	"testing"

	"github.com/fiberfill/fiberfill/polyfill"
)

// Every event has a word of its own; any other number has none.
func TestEventNames(t *testing.T) {
	seen := map[string]bool{}
	for e := Spawned; e <= Begun; e++ {
		name := e.String()
		if name == "" || seen[name] {
			t.Errorf("event %d is called %q", e, name)
		}
		seen[name] = true
	}
	if name := (Begun + 1).String(); name != "" {
		t.Errorf("the event after the last one is called %q", name)
	}
}

// Each StartLog begins a new log; before the first, nothing is recorded.
func TestLogBeginsAtStartLog(t *testing.T) {
	var s Scheduler
	s.Init(DefaultBudget, 10, 10)
	s.Spawn()
	if len(s.Log()) != 0 {
		t.Error("something was recorded before StartLog")
	}
	for range 2 {
		s.StartLog()
		f := s.Spawn()
		if log := s.Log(); len(log) != 1 || log[0] != (Record{Spawned, f}) {
			t.Errorf("Log() = %v", log)
		}
	}
}

// When too many fibers are alive, Spawn and Begin return null and change nothing.
func TestSpawnTooMany(t *testing.T) {
	var s Scheduler
	s.Init(DefaultBudget, 1, 1)
	for range polyfill.MaxFibers {
		s.Machine.New()
	}
	if f := s.Spawn(); f != 0 || s.Wanted() || s.admitted != 0 {
		t.Errorf("Spawn() = %#x, %d places taken", f, s.admitted)
	}
	if f, started := s.Begin(); f != 0 || started || s.admitted != 0 {
		t.Errorf("Begin() = %#x, %v, %d places taken", f, started, s.admitted)
	}
}
