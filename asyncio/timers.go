package asyncio

import "github.com/fiberfill/fiberfill/polyfill"

// timer ends the current wait of one fiber.
type timer struct {
	deadline float64
	order    uint32 // of two timers with the same deadline, the one made first expires first
	fiber    polyfill.Fiber
}

// timers is a binary heap with the earliest deadline on top. A fiber has at most one timer. It is removed when the wait
// ends by other means; otherwise every unneeded timeout would stay in the heap and keep the event loop awake.
type timers struct {
	heap []timer
	at   []uint32 // by Fiber.Index: the timer's index in the heap plus one; 0: no timer
	made uint32
}

func (t *timers) before(i, j int) bool {
	a, b := &t.heap[i], &t.heap[j]
	if a.deadline != b.deadline {
		return a.deadline < b.deadline
	}
	return int32(a.order-b.order) < 0
}

// add sets the timer of f, replacing any earlier one.
func (t *timers) add(deadline float64, f polyfill.Fiber) {
	t.remove(f)
	for f.Index() >= len(t.at) {
		t.at = append(t.at, 0)
	}
	t.made++
	t.heap = append(t.heap, timer{deadline, t.made, f})
	t.up(len(t.heap) - 1)
}

// remove removes the timer of f, if there is one.
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

// up moves the timer at i up to its place and returns that index.
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

// down moves the timer at i down to its place.
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

//go:noinline
func (t *timers) note(i int) { t.at[t.heap[i].fiber.Index()] = uint32(i) + 1 }
