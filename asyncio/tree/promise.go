package tree

// Promise is a value that will be there later, or the reason why not. It is made with [NewPromise], waited for by
// leaves with [Await], and settled once by whoever completes the I/O that it stands for.
type Promise[T any] struct {
	settled bool
	value   T
	err     error
	then    []func() // called in order when it settles
}

// NewPromise returns a promise that is not settled.
func NewPromise[T any]() *Promise[T] { return new(Promise[T]) }

// Settle gives the promise its value or, if err is not nil, rejects it. It wakes nobody by itself: the leaves that wait
// run in the next turn of their tree. The first call counts; it reports whether this was the first.
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

// Settled returns whether the promise is settled, and its value and error if so.
func (p *Promise[T]) Settled() (value T, err error, ok bool) { return p.value, p.err, p.settled }

// promise is any Promise: a scheduler does not look at values.
type promise interface{ onSettle(f func()) }

// onSettle calls f when p settles, at once if it has.
func (p *Promise[T]) onSettle(f func()) {
	if p.settled {
		f()
		return
	}
	p.then = append(p.then, f)
}
