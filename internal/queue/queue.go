// Package queue has the first-in, first-out queue of schedulers and mailboxes.
package queue

// Queue is a ring that grows by doubling and never shrinks: it allocates only to hold more elements than ever before.
// The zero Queue is empty. A Queue is not safe for concurrent use.
type Queue[T any] struct {
	ring []T // its length is zero or a power of two
	head uint32
	tail uint32 // tail-head elements are in the queue; both wrap around
}

// Len returns the number of elements.
func (q *Queue[T]) Len() int { return int(q.tail - q.head) }

// Push adds v behind all others.
func (q *Queue[T]) Push(v T) {
	if q.Len() == len(q.ring) {
		q.grow()
	}
	q.ring[q.tail&uint32(len(q.ring)-1)] = v
	q.tail++
}

// First returns the oldest element. The queue must not be empty.
func (q *Queue[T]) First() T { return q.ring[q.head&uint32(len(q.ring)-1)] }

// Pop removes the oldest element and returns it. The queue must not be empty.
func (q *Queue[T]) Pop() T {
	at := q.head & uint32(len(q.ring)-1)
	v := q.ring[at]
	q.ring[at] = *new(T) // do not keep alive what v refers to
	q.head++
	return v
}

// Rotate removes the oldest element and adds v behind all others. The queue must not be empty.
func (q *Queue[T]) Rotate(v T) {
	q.ring[q.tail&uint32(len(q.ring)-1)] = v
	q.head++
	q.tail++
}

func (q *Queue[T]) grow() {
	n := 2 * len(q.ring)
	if n == 0 {
		n = 8 // small, because each actor has a queue
	}
	ring := make([]T, n)
	count := uint32(q.Len())
	for i := uint32(0); i < count; i++ {
		ring[i] = q.ring[(q.head+i)&uint32(len(q.ring)-1)]
	}
	q.ring, q.head, q.tail = ring, 0, count
}
