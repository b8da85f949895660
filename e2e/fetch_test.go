package e2e_test

import (
	"testing"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// The scenario of fetching fibers (S-FETCH) and its variants, with the C guest and real requests. The test tells the
// server the order of the responses, and checks the scheduler's log event by event. testdata/pages/fetch.js has the
// expectations.
func TestS_FETCH(t *testing.T) {
	tab := open(t, "fetch.html")
	for _, variant := range []string{
		"threeFibers", "twoInSequence", "completionsInOneTurn", "greenThreads", "fetchAmongBusyThreads",
		"rejected", "noFibers", "exceptionInAnImport",
	} {
		t.Run(variant, func(t *testing.T) { tab.Eval(t, "fetching."+variant, nil) })
	}
}

// X-EDGE-15.
func TestX_EDGE_15_RejectionStaysInItsFiber(t *testing.T) {
	open(t, "fetch.html").Eval(t, "fetching.rejectedAlone", nil)
}

// Cancelling a fiber really stops its fetch: the server sees its client go.
func TestCancelStopsTheRequest(t *testing.T) {
	tab := open(t, "fetch.html")
	tab.Eval(t, "fetching.never", nil)
	tab.Traffic(t, func(now webserver.Stats) bool { return now.InFlight == 1 })
	tab.Eval(t, "fetching.cancelNever", nil)
	tab.Traffic(t, func(now webserver.Stats) bool { return now.Abandoned == 1 && now.InFlight == 0 })
}

// Fibers that only compute and yield do not starve the page's timers, messages and frames: a turn ends after its time
// budget.
func TestATurnEndsAfterItsTimeBudget(t *testing.T) {
	const fibers, rounds, step = 50, 10, 1 // ms
	type seen struct{ Timeouts, Messages, Frames, Steps, Longest, Total float64 }

	t.Run("AllAlike", func(t *testing.T) {
		var seen seen
		open(t, "fetch.html", isolated).Eval(t, "fetching.busy", &seen, fibers, rounds, step, 0)
		t.Logf("%+v", seen)
		// A turn of 8 ms has at most 8 whole steps, the step under way when the time is over, and one more, because the
		// scheduler's clock may be half a millisecond old.
		if seen.Steps > 10 {
			t.Errorf("a turn had %v steps of %d ms, want at most 10", seen.Steps, step)
		}
		if turns := float64(fibers*rounds*step) / 10; seen.Messages < turns || seen.Timeouts < turns/2 {
			t.Errorf("%v messages and %v timers in %v ms, want %v and half as many", seen.Messages, seen.Timeouts,
				seen.Total, turns)
		}
		if frames := seen.Total / 100; seen.Frames < frames {
			t.Errorf("%v frames in %v ms, want at least %v", seen.Frames, seen.Total, frames)
		}
	})

	// If steps that took almost no time suddenly take a millisecond, the scheduler notices at most sixteen steps late.
	// How late depends on when it last read the clock, so the test makes the change at different steps.
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

	// Completions that are ready at once cause several turns without a return to the event loop. Together these turns
	// have the budget of one.
	t.Run("CompletedAtOnce", func(t *testing.T) {
		var seen seen
		open(t, "fetch.html", isolated).Eval(t, "fetching.atOnce", &seen, 300000)
		t.Logf("%+v", seen)
		if turns := seen.Total / 16; seen.Messages < turns {
			t.Errorf("%v messages in %v ms, want at least %v", seen.Messages, seen.Total, turns)
		}
	})
}

// A million fibers are started at once; each waits once. All finish, in one tab and in less than 2 GB.
func TestAMillionFibersAtOnce(t *testing.T) {
	const calls = 1_000_000
	tab := open(t, "million.html", bench)
	var got struct {
		Sum, Left   int
		Calling, MS float64
	}
	tab.Eval(t, "million.run", &got, calls)
	ctx, cancel := limit(t)
	defer cancel()
	peak, err := chromium.PeakMemory(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d calls made in %.1f s, all over after %.1f s; the tab's process needed %d MB", calls, got.Calling/1000,
		got.MS/1000, peak>>20)
	if want := calls*(calls-1)/2 + calls; got.Sum != want || got.Left != 0 {
		t.Errorf("the answers add up to %d, want %d; %d fibers are left", got.Sum, want, got.Left)
	}
	if peak >= 2<<30 {
		t.Errorf("%d MB, want less than 2048", peak>>20)
	}
}

// 10,000 calls at once, each with a fetch, all succeed. From plain JavaScript the browser refuses most of so many
// fetches.
func TestTenThousandCallsAtOnce(t *testing.T) {
	const calls, limit = 10000, 1000
	tab := open(t, "cost.html")
	var got struct{ Right, Most, Left int }
	tab.Eval(t, "cost.calls", &got, calls)
	if got.Right != calls || got.Left != 0 {
		t.Errorf("%d of %d calls have the right answer, %d fibers are left", got.Right, calls, got.Left)
	}
	if got.Most != limit {
		t.Errorf("at most %d fetches were in flight, want %d", got.Most, limit)
	}
	if now := tab.server.Stats(); now.Requests != calls {
		t.Errorf("%d requests, want %d", now.Requests, calls)
	}
}
