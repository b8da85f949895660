package asyncio

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fiberfill/fiberfill/polyfill"
)

// The heap against a sorted list, over random adds, removals and pops.
func TestTimersAgainstSortedList(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var heap timers
	heap.made = 1<<32 - 1000 // the counter wraps around on the way
	var list []timer
	without := func(f polyfill.Fiber) {
		list = slices.DeleteFunc(list, func(t timer) bool { return t.fiber == f })
	}
	for i := range 20_000 {
		f := polyfill.Fiber(1 + random.IntN(80))
		switch random.IntN(4) {
		case 0, 1:
			deadline := float64(random.IntN(30)) // many are equal
			heap.add(deadline, f)
			without(f)
			at, _ := slices.BinarySearchFunc(list, deadline, func(t timer, d float64) int {
				if t.deadline <= d {
					return -1
				}
				return 1
			})
			list = slices.Insert(list, at, timer{deadline: deadline, fiber: f})
		case 2:
			heap.remove(f)
			without(f)
		case 3:
			if len(list) > 0 {
				if got := heap.pop(); got != list[0].fiber {
					t.Fatalf("operation %d: pop() = %d, want %d", i, got, list[0].fiber)
				}
				list = list[1:]
			}
		}
		if len(heap.heap) != len(list) || len(list) > 0 && heap.heap[0].deadline != list[0].deadline {
			t.Fatalf("operation %d: %d timers, want %d", i, len(heap.heap), len(list))
		}
	}
}

// The heap holds one timer for each fiber, however often the fiber sleeps.
func TestTimersDoNotPileUp(t *testing.T) {
	var s Scheduler
	s.Init(DefaultBudget, 10, 10)
	f := s.Spawn()
	s.Turn(0)
	for n := range uint32(10_000) {
		s.Sleep(3_600_000, 0)
		s.Notify(f, n+1)
		if s.Turn(0).Fiber() != f {
			t.Fatal("the sleep was not ended")
		}
	}
	if n := len(s.timers.heap); n != 0 {
		t.Errorf("%d timers are left of sleeps that are over", n)
	}
}

// A fiber that is ended outside the scheduler leaves its timer behind. The timer wakes no fiber, not even the next one
// in that place.
func TestTimerOfADeadFiber(t *testing.T) {
	var s Scheduler
	s.Init(DefaultBudget, 10, 10)
	f := s.Spawn()
	s.Turn(0)
	s.Sleep(10, 0)
	s.Machine.Kill(f)
	g := s.Spawn()
	if g.Index() != f.Index() {
		t.Fatal("not in the same place")
	}
	s.Turn(0)
	s.Wait(0)
	if c := s.Turn(10); c != Idle {
		t.Errorf("Turn() = %#x: the timer of a dead fiber woke it", c)
	}
}
