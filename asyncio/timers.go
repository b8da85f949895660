package asyncio

import "github.com/fiberfill/fiberfill/polyfill"

// timer wakes one wait of one fiber. A wait that has ended by other means
// leaves its timer in the heap, where it expires without effect.
type timer struct {
	deadline float64
	order    uint32 // of two timers with one deadline the earlier made expires first
	fiber    polyfill.Fiber
	wait     uint32
}

// timers is a binary heap with the earliest deadline on top.
type timers struct {
	heap []timer
	made uint32
}

func (t *timers) before(i, j int) bool {
	a, b := &t.heap[i], &t.heap[j]
	if a.deadline != b.deadline {
		return a.deadline < b.deadline
	}
	return int32(a.order-b.order) < 0
}

func (t *timers) add(deadline float64, f polyfill.Fiber, wait uint32) {
	t.made++
	t.heap = append(t.heap, timer{deadline, t.made, f, wait})
	for i := len(t.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !t.before(i, up) {
			return
		}
		t.heap[i], t.heap[up] = t.heap[up], t.heap[i]
		i = up
	}
}

// pop removes and returns the earliest timer. There must be one.
func (t *timers) pop() timer {
	top := t.heap[0]
	last := len(t.heap) - 1
	t.heap[0] = t.heap[last]
	t.heap = t.heap[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			return top
		}
		if down+1 < last && t.before(down+1, down) {
			down++
		}
		if !t.before(down, i) {
			return top
		}
		t.heap[i], t.heap[down] = t.heap[down], t.heap[i]
		i = down
	}
}
