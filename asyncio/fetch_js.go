//go:build !tinygo

package asyncio

import (
	"fmt"
	"syscall/js"
)

// transport has nothing to hold: the connections are the platform's.
type transport struct{}

func (transport) close() {}

var (
	abortController = js.Global().Get("AbortController")
	uint8Array      = js.Global().Get("Uint8Array")

	// arrayBuffer takes a Response as argument and not as receiver, so that then can call it.
	arrayBuffer = js.Global().Get("Function").Get("prototype").Get("call").Call("bind",
		js.Global().Get("Response").Get("prototype").Get("arrayBuffer"))
)

// fetch is one wait, although two Promises are behind it: that the headers have come is of no interest to the fiber.
// The Promises are chained in JavaScript, because an entry into Go costs more than all that is done here.
func fetch(f *Fiber, url string) (*Response, error) {
	abort := abortController.New()
	// fetch looks only at the members of its second argument that it knows: the controller's signal is one, so the
	// controller can stand for { signal }.
	response := js.Global().Call("fetch", url, abort)
	s := newSettlement(f)
	s.then(promiseClass.Call("all", []any{response, response.Call("then", arrayBuffer)}))
	if err := f.waitOutside(url); err != nil {
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
