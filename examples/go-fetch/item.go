// Command go-fetch is one program for two worlds. It fetches items in straight-line code: natively with net/http, and
// in a page, built for js/wasm, with the page's own fetch.
package main

import (
	"encoding/json"
	"fmt"

	"github.com/fiberfill/fiberfill/asyncio"
)

// item fetches one item and returns its value. It is the whole program; the two worlds differ only in what calls it.
func item(f *asyncio.Fiber, url string) (int, error) {
	resp, err := asyncio.Fetch(f, url)
	if err != nil {
		return 0, err
	}
	if resp.Status != 200 {
		return 0, fmt.Errorf("fetch %s: the server answered with status %d", url, resp.Status)
	}
	var answer struct{ Value *int }
	if err := json.Unmarshal(resp.Body, &answer); err != nil {
		return 0, fmt.Errorf("fetch %s: %w", url, err)
	}
	if answer.Value == nil {
		return 0, fmt.Errorf("fetch %s: the answer has no value: %.80s", url, resp.Body)
	}
	return *answer.Value, nil
}
