package e2e_test

import "testing"

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

// Fibers that only compute and yield leave the page its timers, messages and frames: a turn ends after its time budget.
func TestATurnEndsAfterItsTimeBudget(t *testing.T) {
	const fibers, rounds, step = 50, 10, 1
	for name, warmUp := range map[string]int{"AllAlike": 0, "SuddenlyLonger": 200} {
		t.Run(name, func(t *testing.T) {
			var seen struct{ Timeouts, Messages, Frames, Longest, Total float64 }
			open(t, "fetch.html", isolated).Eval(t, "fetching.busy", &seen, fibers, rounds, step, warmUp)
			t.Logf("%+v", seen)
			// A turn of 8 ms has at most 8 whole steps, and the one that is under way when its time is over.
			if turns := float64(fibers*rounds*step) / 10; seen.Messages < turns || seen.Timeouts < turns/2 {
				t.Errorf("%v messages and %v timers in %v ms, want %v and half as many", seen.Messages, seen.Timeouts, seen.Total, turns)
			}
			if frames := seen.Total / 100; seen.Frames < frames {
				t.Errorf("%v frames in %v ms, want at least %v", seen.Frames, seen.Total, frames)
			}
		})
	}
}
