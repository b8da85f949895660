package queue

import "testing"

func TestQueueIsFirstInFirstOut(t *testing.T) {
	// Both counters wrap around after 2^32 elements; the ring must not notice.
	for _, start := range []uint32{0, 1, 63, 1<<32 - 1, 1<<32 - 100} {
		var q Queue[int]
		q.Push(0)
		q.Pop()
		q.head, q.tail = start, start
		in, out := 0, 0
		for round := range 2000 {
			for range round % 7 {
				q.Push(in)
				in++
			}
			for range round % 5 {
				if q.Len() == 0 {
					break
				}
				if first := q.First(); first != out {
					t.Fatalf("First() = %d, want %d", first, out)
				}
				if got := q.Pop(); got != out {
					t.Fatalf("Pop() = %d, want %d, counters from %d", got, out, start)
				}
				out++
			}
			if q.Len() != in-out {
				t.Fatalf("Len() = %d, want %d", q.Len(), in-out)
			}
		}
		for q.Len() > 0 {
			if got := q.Pop(); got != out {
				t.Fatalf("Pop() = %d, want %d", got, out)
			}
			out++
		}
		if in != out {
			t.Errorf("%d in, %d out", in, out)
		}
	}
}

// The ring grows with the elements in it at one time, not with all that ever passed through.
func TestQueueDoesNotGrowWithUse(t *testing.T) {
	var q Queue[int]
	for i := range 100_000 {
		q.Push(i)
		q.Push(i)
		q.Pop()
		q.Pop()
	}
	if len(q.ring) != 8 {
		t.Errorf("the ring has %d places for 2 elements", len(q.ring))
	}
}
