// Package queue has the first-in, first-out queue of the schedulers and of mailboxes.
package queue

// Queue is a ring that grows by doubling and never shrinks: it allocates only while there are more elements in it than
// there ever were. The zero Queue is empty. It is not safe for concurrent use.
type Queue[T any] struct {
	ring []T // the length is zero or a power of two
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
	q.ring[at] = *new(T) // what it refers to is not kept alive
	q.head++
	return v
}

// grow is no part of Push, which is copied to wherever something is pushed.
//
//go:noinline
func (q *Queue[T]) grow() {
	n := 2 * len(q.ring)
	if n == 0 {
		n = 8 // there may be a queue for each of many actors
	}
	ring := make([]T, n)
	count := uint32(q.Len())
	for i := uint32(0); i < count; i++ {
		ring[i] = q.ring[(q.head+i)&uint32(len(q.ring)-1)]
	}
	q.ring, q.head, q.tail = ring, 0, count
}
