//go:build !tinygo

package asyncio

import (
	"fmt"
	"syscall/js"
)

// transport has nothing to hold: the connections are the platform's.
type transport struct{}

func (transport) close() {}

// fetch is one wait, although two Promises are behind it: that the headers have
// come is of no interest to the fiber.
func fetch(f *Fiber, url string) (*Response, error) {
	abort := js.Global().Get("AbortController").New()
	init := js.Global().Get("Object").New()
	init.Set("signal", abort.Get("signal"))
	resp := new(Response)
	s := newSettlement(f)
	s.next = func(v js.Value) js.Value {
		resp.Status = v.Get("status").Int()
		return v.Call("arrayBuffer")
	}
	s.then(js.Global().Call("fetch", url, init))
	if err := f.waitOutside(url); err != nil {
		s.abandoned = true
		abort.Call("abort")
		return nil, err
	}
	body, err := s.value, s.err
	s.free()
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", url, err)
	}
	resp.Body = make([]byte, body.Get("byteLength").Int())
	js.CopyBytesToGo(resp.Body, js.Global().Get("Uint8Array").New(body))
	return resp, nil
}
