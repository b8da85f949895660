package asyncio

// queue is a first-in, first-out queue in a ring that grows by doubling and
// never shrinks. The zero queue is empty.
type queue[T any] struct {
	ring []T // the length is zero or a power of two
	head uint32
	tail uint32 // tail-head elements are in the queue; both wrap around
}

func (q *queue[T]) len() int { return int(q.tail - q.head) }

func (q *queue[T]) push(v T) {
	if q.len() == len(q.ring) {
		q.grow()
	}
	q.ring[q.tail&uint32(len(q.ring)-1)] = v
	q.tail++
}

// first returns the oldest element. The queue must not be empty.
func (q *queue[T]) first() T { return q.ring[q.head&uint32(len(q.ring)-1)] }

// pop removes the oldest element. The queue must not be empty.
func (q *queue[T]) pop() T {
	v := q.first()
	q.head++
	return v
}

func (q *queue[T]) grow() {
	n := 2 * len(q.ring)
	if n == 0 {
		n = 64
	}
	ring := make([]T, n)
	count := uint32(q.len())
	for i := uint32(0); i < count; i++ {
		ring[i] = q.ring[(q.head+i)&uint32(len(q.ring)-1)]
	}
	q.ring, q.head, q.tail = ring, 0, count
}
