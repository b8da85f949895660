package wheel

// queue is a first-in, first-out queue in a ring that grows by doubling and never shrinks. The zero queue is empty.
type queue struct {
	ring []ID // the length is zero or a power of two
	head uint32
	tail uint32 // tail-head elements are in the queue; both wrap around
}

func (q *queue) len() int { return int(q.tail - q.head) }

func (q *queue) push(id ID) {
	if q.len() == len(q.ring) {
		ring := make([]ID, max(16, 2*len(q.ring)))
		n := uint32(q.len())
		for i := range n {
			ring[i] = q.ring[(q.head+i)&uint32(len(q.ring)-1)]
		}
		q.ring, q.head, q.tail = ring, 0, n
	}
	q.ring[q.tail&uint32(len(q.ring)-1)] = id
	q.tail++
}

// pop removes the oldest element. The queue must not be empty.
func (q *queue) pop() ID {
	id := q.ring[q.head&uint32(len(q.ring)-1)]
	q.head++
	return id
}
