package fiberhttp

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/fiberfill/fiberfill/asyncio"
)

// pieceSize is how many bytes of a body cross between fiber and goroutine at once, at most. The crossing costs a few
// microseconds, however many bytes there are.
const pieceSize = 32 << 10

var errClosed = errors.New("fiberhttp: the response's body was read after Close")

// body is the body of a response. A goroutine reads ahead of the fiber, into piece: a fiber that is cancelled leaves
// the goroutine at its read, so it must not read into memory of the fiber's.
type body struct {
	ctx    context.Context // of the request
	real   io.ReadCloser
	piece  []byte // the goroutine's while a read is under way
	unread []byte // the part of piece that the fiber has not got
	err    error  // what comes after unread
	end    func() // frees what the request has
}

// causeOf returns why a request has failed. If ctx is done that is the reason, even if net/http gives another error.
func causeOf(ctx context.Context, err error) error {
	if err != io.EOF && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func newBody(ctx context.Context, cancel func(), resp *http.Response) *body {
	real := resp.Body
	// In a page net/http forgets the context once there is a response.
	unwatch := context.AfterFunc(ctx, func() { real.Close() })
	size := int64(pieceSize)
	if n := resp.ContentLength; n >= 0 && n < size {
		size = n + 1 // one byte more, so that the end is seen at once
	}
	return &body{ctx: ctx, real: real, piece: make([]byte, size), end: func() { unwatch(); cancel() }}
}

func (b *body) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(b.unread) == 0 && b.err == nil {
		n, err := asyncio.Block(b.ctx, func(context.Context) (int, error) { return b.real.Read(b.piece) })
		b.unread = b.piece[:n]
		if err != nil {
			b.err = causeOf(b.ctx, err)
			b.end()
			if err != io.EOF { // end may have been called before there was a goroutine that would do this
				b.real.Close()
			}
		}
	}
	n = copy(p, b.unread)
	b.unread = b.unread[n:]
	if len(b.unread) == 0 {
		err = b.err
	}
	return n, err
}

// Close does not wait. It aborts the request if the body has not been read to its end.
func (b *body) Close() error {
	b.unread = nil
	if b.err == nil {
		b.err = errClosed
	}
	b.end() // first: then nothing that Close of net/http may wait for is left
	b.real.Close()
	return nil
}
