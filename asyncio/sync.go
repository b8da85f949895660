//go:build !tinygo

package asyncio

import (
	"context"

	"github.com/fiberfill/fiberfill/internal/queue"
)

// Semaphore lets a fixed number of fibers into something at once. Fibers that wait for it get it in the order of their
// asking. It is for fibers of one loop, and for places where a fiber waits while others must keep out: code that does
// not wait has the loop to itself.
type Semaphore struct {
	size  int
	what  string // the fibers wait for
	turns turns
}

// NewSemaphore returns a semaphore with n places. It panics if n is less than 1, because Acquire would never return.
func NewSemaphore(n int) *Semaphore {
	if n < 1 {
		panic("asyncio: NewSemaphore needs at least one place")
	}
	return &Semaphore{size: n, what: "a place of a semaphore"}
}

// Acquire waits until there is a place, and takes it. An error means that it took none: the cause, because ctx is done
// or its fiber was cancelled, or a [*DeadlockError]. If Acquire returned nil, call Release later.
func (s *Semaphore) Acquire(ctx context.Context) error {
	return s.turns.take(ctx, s.size, "Semaphore.Acquire", s.what)
}

// Release gives a place back, to the fiber that has waited longest. It does not wait. It panics if no place is taken.
// Call it from a fiber of the loop.
func (s *Semaphore) Release() { s.turns.give("Semaphore.Release") }

// Mutex is a lock between fibers of one loop, a semaphore with one place. Its zero value is unlocked.
type Mutex struct {
	turns  turns
	holder *Fiber
}

// Lock waits until nobody holds the mutex, and takes it. An error means that it was not taken: the cause, because ctx
// is done or its fiber was cancelled, or a [*DeadlockError]. A fiber that has the mutex and asks again waits for
// itself.
func (m *Mutex) Lock(ctx context.Context) error {
	const op = "Mutex.Lock"
	f := fiberOf(ctx, op)
	f.locks = m
	err := m.turns.take(ctx, 1, op, "a mutex")
	f.locks = nil
	if err == nil {
		m.holder = f
	}
	return err
}

// Unlock hands the mutex to the fiber that has waited longest. It does not wait. It panics if the mutex is not locked.
// Call it from a fiber of the loop; that need not be the one that locked it.
func (m *Mutex) Unlock() {
	m.turns.give("Mutex.Unlock")
	m.holder = nil
}

// turns are the places of a semaphore: how many are taken, and which fibers wait for one.
type turns struct {
	taken int
	line  line[struct{}]
}

func (t *turns) take(ctx context.Context, size int, op, what string) error {
	f := fiberOf(ctx, op)
	t.line.use(f, op)
	if err := f.ended(ctx); err != nil {
		return err
	}
	if t.taken < size {
		t.taken++
		return nil
	}
	return t.line.wait(ctx, f, what, new(place[struct{}]))
}

func (t *turns) give(op string) {
	if t.taken == 0 {
		panic("asyncio: " + op + ": nobody has taken it")
	}
	if t.line.hand() == nil {
		t.taken--
	}
}

// Chan passes values between fibers of one loop, as Go's channels do between goroutines. (A fiber that waited for one
// of those would block its loop.) Values arrive in the order in which they were sent.
type Chan[T any] struct {
	values             queue.Queue[T] // sent and not received
	capacity           int
	closed             bool
	senders, receivers line[T]
}

// NewChan returns a channel that holds as many values as its capacity without anybody receiving them. With 0 each Send
// waits for its Receive.
func NewChan[T any](capacity int) *Chan[T] {
	if capacity < 0 {
		panic("asyncio: NewChan: the capacity is negative")
	}
	return &Chan[T]{capacity: capacity}
}

// Send waits until value is received, or is held by c. An error means that it never will be: the cause, because ctx is
// done or its fiber was cancelled, or a [*DeadlockError]. As with Go's channels, Send panics if c is closed, before or
// meanwhile.
func (c *Chan[T]) Send(ctx context.Context, value T) error {
	const op = "Chan.Send"
	f := fiberOf(ctx, op)
	c.senders.use(f, op)
	if err := f.ended(ctx); err != nil {
		return err
	}
	open := !c.closed
	if open {
		if p := c.receivers.hand(); p != nil {
			p.value, p.open = value, true
			return nil
		}
		if c.values.Len() < c.capacity {
			c.values.Push(value)
			return nil
		}
		p := &place[T]{value: value}
		if err := c.senders.wait(ctx, f, "a channel to send on", p); err != nil {
			return err
		}
		open = p.open
	}
	if !open {
		panic("asyncio: Chan.Send: the channel is closed")
	}
	return nil
}

// Receive waits for a value. open is false, with the zero value, if c is closed and all its values are received. An
// error means that nothing was received: the cause, because ctx is done or its fiber was cancelled, or a
// [*DeadlockError].
func (c *Chan[T]) Receive(ctx context.Context) (value T, open bool, err error) {
	const op = "Chan.Receive"
	f := fiberOf(ctx, op)
	c.receivers.use(f, op)
	if err := f.ended(ctx); err != nil {
		return value, false, err
	}
	p := (*place[T])(nil)
	if c.values.Len() > 0 {
		value, open = c.values.Pop(), true
		if p = c.senders.hand(); p != nil {
			p.open = true
			c.values.Push(p.value)
		}
		return value, true, nil
	}
	if p = c.senders.hand(); p != nil {
		p.open = true
		return p.value, true, nil
	}
	if c.closed {
		return value, false, nil
	}
	p = new(place[T])
	if err := c.receivers.wait(ctx, f, "a channel to receive from", p); err != nil {
		return value, false, err
	}
	return p.value, p.open, nil
}

// Close says that no more values will be sent. Values that c holds can still be received; fibers that wait to receive
// get none. Close does not wait. It panics if c is closed already. Call it from a fiber of the loop.
func (c *Chan[T]) Close() {
	if c.closed {
		panic("asyncio: Chan.Close: the channel is closed already")
	}
	c.closed = true
	for c.receivers.hand() != nil {
	}
	for c.senders.hand() != nil {
	}
}
