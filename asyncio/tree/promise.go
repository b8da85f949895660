package tree

// Promise is a value that comes later, or the error that comes instead. Make it with [NewPromise] and settle it once,
// when the I/O behind it completes. Leaves wait for it with [Await].
type Promise[T any] struct {
	settled bool
	value   T
	err     error
	then    []func() // called in order when it settles
}

// NewPromise returns a promise that is not settled.
func NewPromise[T any]() *Promise[T] { return new(Promise[T]) }

// Settle gives the promise its value or, if err is not nil, rejects it. It runs no fiber: the leaves that wait run in
// the next turn of their tree. Only the first call counts; Settle reports whether this was it.
func (p *Promise[T]) Settle(value T, err error) bool {
	if p.settled {
		return false
	}
	p.settled, p.value, p.err = true, value, err
	then := p.then
	p.then = nil
	for _, f := range then {
		f()
	}
	return true
}

// Settled reports whether the promise is settled, and returns its value and error if so.
func (p *Promise[T]) Settled() (value T, err error, ok bool) { return p.value, p.err, p.settled }

// promise is a Promise of any type: a scheduler does not look at values.
type promise interface{ onSettle(f func()) }

// onSettle calls f when p settles; at once if p is settled already.
func (p *Promise[T]) onSettle(f func()) {
	if p.settled {
		f()
		return
	}
	p.then = append(p.then, f)
}
