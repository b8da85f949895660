package e2e_test

import (
	"testing"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// The scenario of fetching fibers (S-FETCH) and its variants: the C guest, real requests whose order of arrival the server
// is told, and the scheduler's log event by event. What is expected stands in testdata/pages/fetch.js.
func TestS_FETCH(t *testing.T) {
	tab := open(t, "fetch.html")
	for _, variant := range []string{
		"threeFibers", "twoInSequence", "completionsInOneTurn", "greenThreads", "fetchAmongBusyThreads", "rejected", "noFibers", "exceptionInAnImport",
	} {
		t.Run(variant, func(t *testing.T) { tab.Eval(t, "fetching."+variant, nil) })
	}
}

// S-EDGE 15.
func TestS_EDGE_15_RejectionStaysInItsFiber(t *testing.T) {
	open(t, "fetch.html").Eval(t, "fetching.rejectedAlone", nil)
}

// The fetch of a fiber that is cancelled really stops: the server sees its client go.
func TestCancelStopsTheRequest(t *testing.T) {
	tab := open(t, "fetch.html")
	tab.Eval(t, "fetching.never", nil)
	tab.Traffic(t, func(now webserver.Stats) bool { return now.InFlight == 1 })
	tab.Eval(t, "fetching.cancelNever", nil)
	tab.Traffic(t, func(now webserver.Stats) bool { return now.Abandoned == 1 && now.InFlight == 0 })
}

// Fibers that only compute and yield leave the page its timers, messages and frames: a turn ends after its time budget.
func TestATurnEndsAfterItsTimeBudget(t *testing.T) {
	const fibers, rounds, step = 50, 10, 1 // ms
	type seen struct{ Timeouts, Messages, Frames, Steps, Longest, Total float64 }

	t.Run("AllAlike", func(t *testing.T) {
		var seen seen
		open(t, "fetch.html", isolated).Eval(t, "fetching.busy", &seen, fibers, rounds, step, 0)
		t.Logf("%+v", seen)
		// A turn of 8 ms has at most 8 whole steps and the one that is under way when its time is over; and one more,
		// because the scheduler's clock may be half a millisecond old.
		if seen.Steps > 10 {
			t.Errorf("a turn had %v steps of %d ms, want at most 10", seen.Steps, step)
		}
		if turns := float64(fibers*rounds*step) / 10; seen.Messages < turns || seen.Timeouts < turns/2 {
			t.Errorf("%v messages and %v timers in %v ms, want %v and half as many", seen.Messages, seen.Timeouts, seen.Total, turns)
		}
		if frames := seen.Total / 100; seen.Frames < frames {
			t.Errorf("%v frames in %v ms, want at least %v", seen.Frames, seen.Total, frames)
		}
	})

	// When steps that took next to no time suddenly take a millisecond, the scheduler finds out at most eight steps late.
	// How late is a matter of when it last read the clock, so the change comes at different steps.
	t.Run("SuddenlyLonger", func(t *testing.T) {
		tab := open(t, "fetch.html", isolated)
		var most float64
		for i := range 12 {
			var seen seen
			tab.Eval(t, "fetching.busy", &seen, fibers, 2, step, 10000+7*i)
			most = max(most, seen.Steps)
		}
		t.Logf("a turn had %v steps", most)
		if most > 10+8 {
			t.Errorf("a turn had %v steps of %d ms, want at most 18", most, step)
		}
	})

	// Completions that are there at once make turns that follow each other without the event loop: together they have the
	// budget of one.
	t.Run("CompletedAtOnce", func(t *testing.T) {
		var seen seen
		open(t, "fetch.html", isolated).Eval(t, "fetching.atOnce", &seen, 300000)
		t.Logf("%+v", seen)
		if turns := seen.Total / 16; seen.Messages < turns {
			t.Errorf("%v messages in %v ms, want at least %v", seen.Messages, seen.Total, turns)
		}
	})
}
