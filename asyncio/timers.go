package asyncio

import "github.com/fiberfill/fiberfill/polyfill"

// timer ends the current wait of one fiber.
type timer struct {
	deadline float64
	order    uint32 // of two timers with one deadline the earlier made expires first
	fiber    polyfill.Fiber
}

// timers is a binary heap with the earliest deadline on top. A fiber has at most one timer, and it goes when the wait
// ends by other means: a heap in which it stayed until its time would grow with every timeout that was not needed, and
// keep the event loop awake for nothing.
type timers struct {
	heap []timer
	at   []uint32 // by Fiber.Index: where the fiber's timer is in the heap, plus one; 0: nowhere
	made uint32
}

func (t *timers) before(i, j int) bool {
	a, b := &t.heap[i], &t.heap[j]
	if a.deadline != b.deadline {
		return a.deadline < b.deadline
	}
	return int32(a.order-b.order) < 0
}

// add makes the timer of f. One that it has already is replaced.
func (t *timers) add(deadline float64, f polyfill.Fiber) {
	t.remove(f)
	for f.Index() >= len(t.at) {
		t.at = append(t.at, 0)
	}
	t.made++
	t.heap = append(t.heap, timer{deadline, t.made, f})
	t.up(len(t.heap) - 1)
}

// remove takes the timer of f away, if there is one.
func (t *timers) remove(f polyfill.Fiber) {
	if f.Index() < len(t.at) && t.at[f.Index()] != 0 {
		t.delete(int(t.at[f.Index()]) - 1)
	}
}

// pop removes the earliest timer and returns its fiber. There must be one.
func (t *timers) pop() polyfill.Fiber {
	f := t.heap[0].fiber
	t.delete(0)
	return f
}

func (t *timers) delete(i int) {
	t.at[t.heap[i].fiber.Index()] = 0
	last := len(t.heap) - 1
	moved := t.heap[last]
	t.heap = t.heap[:last]
	if i < last {
		t.heap[i] = moved
		t.down(t.up(i))
	}
}

// up moves the timer at i to its place above and returns where that is.
func (t *timers) up(i int) int {
	for i > 0 {
		above := (i - 1) / 2
		if !t.before(i, above) {
			break
		}
		t.heap[i], t.heap[above] = t.heap[above], t.heap[i]
		t.note(i)
		i = above
	}
	t.note(i)
	return i
}

// down moves the timer at i to its place below.
func (t *timers) down(i int) {
	for {
		below := 2*i + 1
		if below+1 < len(t.heap) && t.before(below+1, below) {
			below++
		}
		if below >= len(t.heap) || !t.before(below, i) {
			break
		}
		t.heap[i], t.heap[below] = t.heap[below], t.heap[i]
		t.note(i)
		i = below
	}
	t.note(i)
}

func (t *timers) note(i int) { t.at[t.heap[i].fiber.Index()] = uint32(i) + 1 }
