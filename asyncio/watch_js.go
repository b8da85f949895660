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
	number int // of the timer that runs; 0: none does
	timer  js.Value
	fiber  *Fiber // the one that ran when the timer fired last
	waits  uint32 // its number of waits then
}

var (
	watched = map[int]*Loop{} // the loops whose timers run, by the timer's number
	started int               // how many timers have been
	fire    js.Func           // what the timers call, with their numbers
)

// fire is made before there is a loop: in a testing/synctest bubble that has called js.FuncOf, time stands still.
func init() {
	fire = js.FuncOf(func(_ js.Value, args []js.Value) any {
		number := args[0].Int()
		l := watched[number]
		delete(watched, number)
		l.watch.look(l)
		return nil
	})
}

func (w *watch) begin(l *Loop) {
	if w.number == 0 {
		w.fiber = nil
		w.start(l)
	}
}

func (w *watch) start(l *Loop) {
	started++
	w.number = started
	watched[started] = l
	w.timer = js.Global().Call("setTimeout", fire, stuck.Milliseconds(), started)
}

func (w *watch) look(l *Loop) {
	w.number = 0
	f := l.running
	switch {
	case f == nil && l.asleep:
		return // until a fiber runs again
	case f == nil || f != w.fiber || f.waits != w.waits:
		if w.fiber = f; f != nil {
			w.waits = f.waits
		}
		w.start(l)
		return
	}
	js.Global().Get("console").Call("warn", fmt.Sprintf("asyncio: fiber %s has blocked its loop for %v: it waits in "+
		"Go's own way, as for a channel, a mutex or time.Sleep, and meanwhile no other fiber runs. Use asyncio's "+
		"Chan, Mutex, Semaphore and Sleep, or call what blocks in asyncio.Block", f.name, stuck))
}

func (w *watch) end() {
	if w.number != 0 {
		js.Global().Call("clearTimeout", w.timer)
		delete(watched, w.number)
	}
	*w = watch{}
}
