package actors_test

import (
	"fmt"

	"github.com/fiberfill/fiberfill/asyncio/actors"
)

// A guest sleeps in the middle of its handler; meanwhile a native actor answers. The clock is virtual, so this takes no
// time.
func Example() {
	clock := new(actors.VirtualClock)
	r := actors.New(actors.Config{Clock: clock})
	defer r.Close()

	done := 0
	tester, _ := r.SpawnNative(func(h *actors.Host, m actors.Message) bool {
		fmt.Printf("%v: actor %d says %s\n", clock.Now(), m.Source, m.Payload)
		done++
		return true
	}, 10)
	guest, _ := r.Spawn(actors.GuestFunc(func(h *actors.Host, m actors.Message) int32 {
		h.SleepMs(50)
		h.Send(tester, 201, []byte("slept"))
		return 1
	}), 10, actors.Stack32K)
	native, _ := r.SpawnNative(func(h *actors.Host, m actors.Message) bool {
		return h.Send(tester, 201, []byte("pong")) == 0
	}, 10)

	r.Send(guest, 204, nil)
	r.Send(native, 200, nil)
	err := r.Run(func() bool { return done == 2 })
	fmt.Println(err)
	// Output:
	// 0s: actor 3 says pong
	// 50ms: actor 2 says slept
	// <nil>
}
