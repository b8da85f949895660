package main

import (
	"io"
	"sync"

	"github.com/fiberfill/fiberfill/guest"
)

// output prints a line for each fiber, in the order of the fibers' numbers. It keeps the lines of those that have ended
// before another whose number is lower.
type output struct {
	mu      sync.Mutex // a signal may end the process while a fiber runs
	to      io.Writer
	calls   []*guest.Call
	lines   []*string // nil: it has not ended
	number  map[*guest.Call]int
	printed int   // so many lines
	lost    error // not nil: writing has failed
}

func (o *output) expect(to io.Writer, calls []*guest.Call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to, o.calls, o.lines = to, calls, make([]*string, len(calls))
	o.number = make(map[*guest.Call]int, len(calls))
	for i, c := range calls {
		o.number[c] = i
	}
}

// ended prints the line of a fiber, and those that have waited for it.
func (o *output) ended(c *guest.Call, line string) {
	i, ok := o.number[c]
	if !ok { // it prepares the module
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines[i] = &line
	for o.printed < len(o.lines) && o.lines[o.printed] != nil {
		o.next()
	}
}

// flush prints all further lines before the process ends. unended returns that of a fiber that has not ended.
func (o *output) flush(unended func(c *guest.Call) string) {
	if !o.mu.TryLock() { // it is being written to, and perhaps nobody reads
		return
	}
	defer o.mu.Unlock()
	for o.printed < len(o.lines) {
		if o.lines[o.printed] == nil {
			line := unended(o.calls[o.printed])
			o.lines[o.printed] = &line
		}
		o.next()
	}
}

func (o *output) next() {
	if o.lost == nil {
		_, o.lost = io.WriteString(o.to, *o.lines[o.printed])
	}
	o.lines[o.printed] = nil
	o.printed++
}
