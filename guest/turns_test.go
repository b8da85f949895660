package guest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/webserver"
)

// Entries run one after the other, in their order, also while the first sleeps.
func TestEntriesTakeTurns(t *testing.T) {
	g := load(t, generators, Options{})
	var calls []*Call
	for i := range 4 {
		calls = append(calls, call(t, g, fmt.Sprint("nap#", i), "nap", fmt.Sprint(8-2*i)))
	}
	g.Run()
	for i, c := range calls {
		c.want(t, fmt.Sprint(i+1))
	}
	emptied(t, g)
}

// The end of an entry wakes the next one, not all that wait: waking all would make each of n entries cost n steps.
func TestTurnsOfManyEntries(t *testing.T) {
	g := load(t, generators, Options{})
	const many = 200
	for range many {
		call(t, g, "nap", "nap", "0")
	}
	g.Loop.StartLog()
	g.Run()
	if lines := len(g.Loop.Log()); lines > 20*many {
		t.Errorf("%d entries have taken %d steps", many, lines)
	}
	emptied(t, g)
}

// An entry that waits for its turn behind one that is cancelled then waits for the running one.
func TestTurnBehindACancelledEntry(t *testing.T) {
	server := serve(t)
	var ends []string
	g := load(t, generators, Options{Ended: func(c *Call) { ends = append(ends, fmt.Sprint(c.Name, " ", c.State)) }})
	g.Run() // _initialize
	call(t, g, "first", "twice", server.URL+"/hold?id=1")
	second := call(t, g, "second", "nap", "0")
	call(t, g, "third", "nap", "0")
	// A fiber of the loop, which goes on behind those that are ready: the second entry has begun to wait by then.
	g.Loop.Go("canceller", func(f *asyncio.Fiber) error {
		_, err := asyncio.Block(f, func(ctx context.Context) (webserver.Stats, error) {
			return server.Await(ctx, func(s webserver.Stats) bool { return s.InFlight == 1 })
		})
		second.fiber.Cancel(nil)
		release(t, server, 1)
		return err
	})
	g.Run()
	if got := strings.Join(ends[1:], ", "); got != "second cancelled, first done, third done" { // behind _initialize
		t.Error(got)
	}
	emptied(t, g)
}
