package tree_test

import (
	"context"
	"fmt"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/asyncio/tree"
)

// An asyncio.Loop serves as the tree's event loop. Its fibers do the I/O and settle promises; when the tree wants a
// turn, one of them calls Turn.
func Example() {
	loop := asyncio.NewLoop(context.Background())
	var app *tree.Tree
	turn := func(*asyncio.Fiber) error { app.Turn(nil); return nil }
	app = tree.New("application", func() { loop.Go("turn", turn) })

	after := func(d time.Duration) *tree.Promise[time.Duration] {
		p := tree.NewPromise[time.Duration]()
		loop.Go("timer", func(f *asyncio.Fiber) error {
			p.Settle(d, asyncio.Sleep(f, d))
			return nil
		})
		return p
	}
	var waited time.Duration
	for _, name := range []string{"red", "blue"} {
		component := app.Root().Scheduler(name)
		for _, d := range []time.Duration{2 * time.Millisecond, time.Millisecond} {
			component.Go(fmt.Sprint(name, " ", d), func(f *tree.Fiber) error {
				d, err := tree.Await(f, after(d))
				waited += d
				return err
			})
		}
	}
	loop.Go("turn", turn)
	loop.Run()
	_, err, over := app.Done().Settled()
	fmt.Println(waited, over, err)
	// Output: 6ms true <nil>
}
