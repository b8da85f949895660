//go:build !tinygo

package asyncio

import (
	"fmt"
	"syscall/js"
	"time"
)

// stuck is how long a fiber may block its loop before that is told.
const stuck = 5 * time.Second

// A watch tells on the console of a fiber that blocks its loop: in Go's own way, on a channel for instance, for which
// the other fibers wait, too. Go code runs on one thread here, so if a timer fires while a fiber runs, that fiber
// blocks. The timer runs while the loop has something to do.
//
// It is one of JavaScript's. When a timer of Go's is stopped, the one of JavaScript's behind it stays, and fires when
// the program has exited: an error that nobody catches.
type watch struct {
	on    bool // the timer runs
	timer js.Value
	fire  js.Func
	fiber *Fiber // the one that ran when the timer fired last
	waits uint32 // its number of waits then
}

func (w *watch) begin(l *Loop) {
	if w.on {
		return
	}
	w.on = true
	w.fiber = nil
	if w.fire.IsUndefined() {
		w.fire = js.FuncOf(func(js.Value, []js.Value) any { w.look(l); return nil })
	}
	w.start()
}

func (w *watch) start() { w.timer = js.Global().Call("setTimeout", w.fire, stuck.Milliseconds()) }

func (w *watch) look(l *Loop) {
	f := l.running
	switch {
	case f == nil && l.asleep:
		w.on = false // until a fiber runs again
		return
	case f == nil || f != w.fiber || f.waits != w.waits:
		if w.fiber = f; f != nil {
			w.waits = f.waits
		}
		w.start()
		return
	}
	w.on = false
	js.Global().Get("console").Call("warn", fmt.Sprintf("asyncio: fiber %s has blocked its loop for %v: it waits in "+
		"Go's own way, as for a channel, a mutex or time.Sleep, and meanwhile no other fiber runs. Use asyncio's "+
		"Chan, Mutex, Semaphore and Sleep, or call what blocks in asyncio.Block", f.name, stuck))
}

func (w *watch) end() {
	if w.fire.IsUndefined() {
		return
	}
	if w.on {
		js.Global().Call("clearTimeout", w.timer)
	}
	w.fire.Release()
	*w = watch{}
}
