package guest

import (
	"fmt"
	"net/http"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
)

// Page returns the imports of the examples' page, for guests that are made for it: env.fetch_text is [FetchText], and
// env.log calls log, which may be nil.
func Page(log func(c *Call, code, value int32)) Imports {
	if log == nil {
		log = func(*Call, int32, int32) {}
	}
	return Imports{"env": {"fetch_text": FetchText, "log": log}}
}

// FetchText is an import. It requests a URL by HTTP GET, writes as much of the body as fits to the buffer, and returns
// the length of the whole body in bytes. A status other than 2xx is a failure. The guest may name any address that the
// process can reach: give it only to guests that you trust with that.
func FetchText(f *Fiber, url string, buffer, capacity uint32) (uint32, error) {
	f.Call.WaitsFor += " " + url
	response, err := asyncio.Fetch(f, url)
	if err != nil {
		return 0, err
	}
	if response.Status < 200 || response.Status > 299 {
		return 0, fmt.Errorf("GET %s: %d %s", url, response.Status, http.StatusText(response.Status))
	}
	f.Call.Write(buffer, response.Body[:min(len(response.Body), int(capacity))])
	return uint32(len(response.Body)), nil
}

// yield is fiberfill.yield: the other fibers run.
func yield(f *Fiber) error { return f.Yield() }

// sleep is fiberfill.sleep_ms. The fiber waits for that many milliseconds; a negative number means 0.
func sleep(f *Fiber, ms int32) error {
	f.Call.WaitsFor += fmt.Sprint(" ", ms)
	return asyncio.Sleep(f, time.Duration(ms)*time.Millisecond)
}
