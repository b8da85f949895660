// Package asyncio decides which fiber runs next.
//
// It has two layers. The [Scheduler] is a state machine without clock, I/O and JavaScript: it is compiled by TinyGo
// into the core that every page loads, and it is the same code that schedules Go programs. On top of it, for Go
// programs built with the standard toolchain, natively or for js/wasm, stands an API of straight-line code: [Run],
// [Fiber], [Fetch], [Sleep]. For JavaScript there are Await and [Loop]'s FuncOf, too, which GOOS=js GOARCH=wasm go doc
// shows.
//
// # How the scheduler works
//
// The scheduler is the root of a [polyfill.Machine]; every fiber that runs has been entered by it. It is driven by
// whoever owns the stacks, the driver:
//
//	driver                              scheduler
//	Spawn()                             a new fiber, at the end of the ready queue
//	Turn(now)                           drains timers and inbox, names the first ready fiber
//	  the named fiber runs ...
//	  ... and waits: Wait(now)          suspends it, names the next ready fiber
//	  ... or has ended: Finish(now)     ends it, names the next ready fiber
//	  nothing is ready: Idle            the driver gives control back to its event loop
//	event loop: some I/O is complete
//	Notify(fiber, n)                    into the inbox; true: the driver schedules a turn
//	Turn(now)                           ...
//
// Every call returns a command: the one fiber that runs now, or [Idle], or [TurnOver]. The driver obeys and decides
// nothing. Completed I/O never enters the fiber that asked for it; it goes through the inbox, and the scheduler enters
// the fiber (J-MUX-4, J-MUX-5).
//
// # Promises
//
//  1. Fibers start in the order in which they were spawned. Only what a running
//     fiber spawns while the limit is reached passes those that wait unstarted.
//  2. Completed I/O is delivered in the order of its completion, once, to the
//     fiber that waits for it and to no other; what arrives for a wait that is
//     over is dropped (J-MUX-6, J-MUX-7).
//  3. A fiber that yields goes to the end of the ready queue: nobody starves.
//  4. A turn ends when its time budget is used up, even if fibers are ready. It
//     runs at least one.
//  5. When nothing is ready control goes back to the event loop; it neither
//     spins nor pauses for ever when nothing is outstanding (J-MUX-10).
//  6. No more fibers are started at once than the limit; the others wait
//     unstarted, in order.
//
// # Arenas
//
// In the API for Go programs every fiber belongs to a scope, its parent or its loop, and does not outlive it. An arena
// is a scope inside a function: [Arena], and for the two usual cases [All], which is complete when all are, and [Race],
// which the first finisher wins. An arena that ends early ends its fibers: their contexts are done at once, so that
// none begins anything new, and then their waits return, children before parents and the last started first, each when
// the one before is over; only a race asks its losers in the order of their start. Cancellation is an event in the
// place where a fiber waits: every wait has the three answers success, error and cancel, the last with the reason that
// somebody gave.
//
// # Cost
//
// No operation allocates, but for the growth of queues. All but timers take constant time, timers logarithmic.
package asyncio
