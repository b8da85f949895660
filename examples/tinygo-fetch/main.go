//go:build tinygo

// A guest that fetches, compiled by TinyGo without goroutines: a call that waits is a fiber with a stack of its own, so
// it needs none.
package main

import (
	"strconv"
	"strings"
	"unsafe"
)

//go:wasmimport env fetch_text
func fetchText(url unsafe.Pointer, urlLength uint32, buffer unsafe.Pointer, capacity uint32) uint32

//go:wasmimport fiberfill sleep_ms
func sleepMS(ms int32)

// item returns the value of an item: {"id":1,"value":4711,...}; -1: no such JSON. JavaScript passes a string, which
// becomes an address and a length in this fiber's own memory.
//
//go:wasmexport item
func item(url unsafe.Pointer, urlLength uint32) int32 {
	open++
	defer func() { open-- }()
	body := fetch(url, urlLength)
	sleepMS(1)
	_, rest, found := strings.Cut(body, `"value":`)
	digits, _, _ := strings.Cut(rest, ",")
	value, err := strconv.Atoi(digits)
	if !found || err != nil {
		return -1
	}
	return int32(value)
}

// fetch returns a text, all that there is of it.
func fetch(url unsafe.Pointer, urlLength uint32) string {
	body := make([]byte, 256)
	for {
		length := fetchText(url, urlLength, unsafe.Pointer(&body[0]), uint32(len(body)))
		if length <= uint32(len(body)) {
			return string(body[:length])
		}
		body = make([]byte, length)
	}
}

// malloc and free are what fiberfill takes the stacks of its fibers from; it asks seldom, and keeps them.
//
//go:wasmexport malloc
func malloc(size uint32) unsafe.Pointer { return unsafe.Pointer(&make([]byte, size+16)[0]) }

//go:wasmexport free
func free(unsafe.Pointer) {}

// open counts the calls that have begun and not returned.
var open int32

//go:wasmexport open
func opened() int32 { return open }

func main() {}
