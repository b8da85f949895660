package asyncio

import "testing"

func TestQueueIsFirstInFirstOut(t *testing.T) {
	// Both counters wrap around after 2^32 elements; the ring must not notice.
	for _, start := range []uint32{0, 1, 63, 1<<32 - 1, 1<<32 - 100} {
		var q queue[int]
		q.push(0)
		q.pop()
		q.head, q.tail = start, start
		in, out := 0, 0
		for round := range 2000 {
			for range round % 7 {
				q.push(in)
				in++
			}
			for range round % 5 {
				if q.len() == 0 {
					break
				}
				if first := q.first(); first != out {
					t.Fatalf("first() = %d, want %d", first, out)
				}
				if got := q.pop(); got != out {
					t.Fatalf("pop() = %d, want %d, counters from %d", got, out, start)
				}
				out++
			}
			if q.len() != in-out {
				t.Fatalf("len() = %d, want %d", q.len(), in-out)
			}
		}
		for q.len() > 0 {
			if got := q.pop(); got != out {
				t.Fatalf("pop() = %d, want %d", got, out)
			}
			out++
		}
		if in != out {
			t.Errorf("%d in, %d out", in, out)
		}
	}
}

// The ring grows to what is in the queue at one time, not to what ever was.
func TestQueueDoesNotGrowWithUse(t *testing.T) {
	var q queue[int]
	for i := range 100_000 {
		q.push(i)
		q.push(i)
		q.pop()
		q.pop()
	}
	if len(q.ring) != 64 {
		t.Errorf("the ring has %d places for 2 elements", len(q.ring))
	}
}
