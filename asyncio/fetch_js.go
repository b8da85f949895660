//go:build !tinygo

package asyncio

import (
	"context"
	"fmt"
	"syscall/js"
)

// transport holds nothing: the platform owns the connections.
type transport struct{}

func (transport) close() {}

var (
	abortController = js.Global().Get("AbortController")
	uint8Array      = js.Global().Get("Uint8Array")

	// arrayBuffer takes the Response as its argument, not as its receiver, so that then can call it.
	arrayBuffer = js.Global().Get("Function").Get("prototype").Get("call").Call("bind",
		js.Global().Get("Response").Get("prototype").Get("arrayBuffer"))
)

// fetch waits once for two Promises, because the fiber has no use for the headers alone. The Promises are chained in
// JavaScript, because one entry into Go costs more than all the work here.
func fetch(ctx context.Context, f *Fiber, url string) (*Response, error) {
	abort := abortController.New()
	// fetch reads only the members of its second argument that it knows. signal is one of them, so the controller
	// itself can stand for { signal }.
	response := js.Global().Call("fetch", url, abort)
	s := newSettlement(f)
	s.then(promiseClass.Call("all", []any{response, response.Call("then", arrayBuffer)}))
	if err := f.waitOutside(ctx, url); err != nil {
		s.abandon()
		abort.Call("abort")
		return nil, err
	}
	both, err := s.value, s.err
	s.free()
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", url, err)
	}
	body := uint8Array.New(both.Index(1))
	resp := &Response{Status: both.Index(0).Get("status").Int(), Body: make([]byte, body.Length())}
	js.CopyBytesToGo(resp.Body, body)
	return resp, nil
}
