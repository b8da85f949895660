package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// The Go program of examples/go-fetch, as in the demo page. testdata/pages/gofetch.js has the scenarios.

// ask makes three calls for items that the server holds, and returns when it holds them.
func ask(t *testing.T, who string) *tab {
	t.Helper()
	tab := open(t, "gofetch.html", policy)
	tab.Eval(t, "gofetch.ask", nil, who)
	tab.Traffic(t, func(now webserver.Stats) bool { return now.InFlight == 3 })
	return tab
}

// answer makes the server release an item, and expects the item's call to resolve with its value.
func (tab *tab) answer(t *testing.T, id uint64) {
	t.Helper()
	var value uint64
	tab.Eval(t, "gofetch.answer", &value, id)
	if want := webserver.Value(id); value != want {
		t.Errorf("item %d = %d, want %d", id, value, want)
	}
}

// The scheduler of a Go program logs the same events as the scheduler of a wasm guest. Natively it logs them too:
// package asyncio's test compares with the same log.
func TestS_FETCH_TheSameLogOfGoAndWasm(t *testing.T) {
	want := strings.Split(strings.TrimSpace(read(t, "asyncio/testdata/s-fetch.log")), "\n")
	for _, who := range []string{"go-fetch", "c-fetch", "wat-fetch"} {
		t.Run(who, func(t *testing.T) {
			tab := ask(t, who)
			for _, id := range []uint64{1, 2, 0} {
				tab.answer(t, id)
			}
			var told struct {
				Settled []int
				Log     []string
			}
			tab.Eval(t, "gofetch.told", &told)
			if fmt.Sprint(told.Settled) != "[1 2 0]" {
				t.Errorf("settled in the order %v, want 1 2 0", told.Settled)
			}
			got := plain(told.Log)
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Fatalf("event %d is wrong: got\n%s\nwant\n%s", i+1,
						strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		})
	}
}

// plain renames the fibers of a log to f0, f1, ... in the order they were spawned, and joins turns that the time budget
// cut: a pause and an entry without a notification between them.
func plain(log []string) (events []string) {
	names := map[string]string{}
	for i := 0; i < len(log); i++ {
		if log[i] == "paused" && i+1 < len(log) && log[i+1] == "entered" {
			i++
			continue
		}
		event, fiber, of := strings.Cut(log[i], " ")
		if event == "spawned" {
			names[fiber] = fmt.Sprint("f", len(names))
		}
		if of {
			event += " " + names[fiber]
		}
		events = append(events, event)
	}
	return events
}

func TestGoFetchesAThousand(t *testing.T) {
	var values []uint64
	open(t, "gofetch.html", policy).Eval(t, "gofetch.thousand", &values)
	expectItems(t, "Go", values, 1000)
}

// A JavaScript callback may call a Go function that waits while others wait. With bare goroutines in a js.Func that is
// a deadlock (golang/go#37136).
func TestGoIsCalledFromCallbacksWhileOthersWait(t *testing.T) {
	tab := ask(t, "go-fetch")
	var values []uint64
	tab.Eval(t, "gofetch.fromCallbacks", &values)
	if len(values) != 7 {
		t.Errorf("%d values, want 7", len(values))
	}
	for i, value := range values {
		if want := webserver.Value(uint64(10 + i)); value != want {
			t.Errorf("callback %d got %d, want %d", i, value, want)
		}
	}
	for id := range uint64(3) {
		tab.answer(t, id)
	}
}

// An AbortSignal ends its call with the signal's reason, by identity, and ends the request: the server sees its client
// go. Other calls go on. A call with an aborted signal makes no request.
func TestGoCancelStopsTheRequest(t *testing.T) {
	tab := ask(t, "go-fetch")
	tab.Eval(t, "gofetch.never", nil)
	tab.Traffic(t, func(now webserver.Stats) bool { return now.InFlight == 4 })
	tab.Eval(t, "gofetch.abort", nil)
	now := tab.Traffic(t, func(now webserver.Stats) bool { return now.Abandoned == 1 && now.InFlight == 3 })
	if now.Requests != 4 {
		t.Errorf("%d requests, want 4", now.Requests)
	}
	for id := range uint64(3) {
		tab.answer(t, id)
	}
}

// A call fails alone, with the platform's own error or with an error that names the address and the status.
func TestGoErrorsRejectTheirCallOnly(t *testing.T) {
	tab := ask(t, "go-fetch")
	tab.Eval(t, "gofetch.failing", nil)
	for id := range uint64(3) {
		tab.answer(t, id)
	}
}

// When the program ends, its calls and their requests end.
func TestGoStops(t *testing.T) {
	tab := ask(t, "go-fetch")
	tab.Eval(t, "gofetch.stop", nil)
	tab.Traffic(t, func(now webserver.Stats) bool { return now.Abandoned == 3 && now.InFlight == 0 })
}
