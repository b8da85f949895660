//go:build !tinygo && !js

package asyncio

import (
	"context"
	"io"
	"net/http"
	urls "net/url"
)

// transport holds a loop's connections. They are closed when the loop's Run returns, so none of their goroutines stays
// behind.
type transport struct{ client *http.Client }

func (t *transport) get() *http.Client {
	if t.client == nil {
		own := &http.Transport{Proxy: http.ProxyFromEnvironment}
		if std, ok := http.DefaultTransport.(*http.Transport); ok {
			own = std.Clone()
		}
		own.MaxIdleConns = maxRequests
		own.MaxIdleConnsPerHost = maxRequests // the default of 2 would reconnect for nearly every request
		t.client = &http.Client{Transport: own}
	}
	return t.client
}

func (t *transport) close() {
	if t.client != nil {
		t.client.CloseIdleConnections()
	}
}

func fetch(ctx context.Context, f *Fiber, url string) (*Response, error) {
	client := f.loop.transport.get()
	return block(ctx, "Fetch", url, func(ctx context.Context) (*Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, &urls.Error{Op: "Get", URL: url, Err: err} // like the errors of Do, it names the URL
		}
		return &Response{Status: resp.StatusCode, Body: body}, nil
	})
}
