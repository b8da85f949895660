// Package asyncio decides which fiber runs next.
//
// It has two layers. The [Scheduler] is a state machine without a clock, I/O or JavaScript. TinyGo compiles it into the
// core that every page loads, and the same code schedules Go programs. On top of it is an API for Go programs built
// with the standard toolchain, natively or for js/wasm: [Run], [Fiber], [Fetch], [Sleep]. Its code is straight-line.
// Package fiberhttp makes HTTP requests of any kind. Programs for JavaScript also have Await and [Loop]'s FuncOf;
// GOOS=js GOARCH=wasm go doc shows them.
//
// # How the scheduler works
//
// The scheduler is the root of a [polyfill.Machine] and enters every fiber that runs. The driver, which owns the
// stacks, calls it:
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
// Every call returns a command: the one fiber that runs now, [Idle], or [TurnOver]. The driver obeys and decides
// nothing. Completed I/O never enters the fiber that asked for it. It goes into the inbox, and the scheduler enters the
// fiber (J-MUX-4, J-MUX-5).
//
// # Promises
//
//  1. Fibers start in the order in which they were spawned. One exception: at the limit, a fiber spawned by a running
//     fiber starts before those that wait unstarted.
//  2. Completed I/O is delivered in the order of completion, once, and only to the fiber that waits for it. A
//     completion for a wait that is over is dropped (J-MUX-6, J-MUX-7).
//  3. A fiber that yields goes to the end of the ready queue, so no fiber starves.
//  4. A turn ends when its time budget is used up, even if fibers are ready. It runs at least one fiber.
//  5. When nothing is ready, control goes back to the event loop. The scheduler does not spin, and does not pause when
//     nothing is outstanding (J-MUX-10).
//  6. At most as many fibers as the limit are started at once. The others wait unstarted, in order.
//
// # Arenas
//
// In the API for Go programs every fiber belongs to a scope, which is its parent or its loop, and does not outlive it.
// An arena is a scope inside a function: [Arena], and for the two usual cases [All], which waits for every fiber, and
// [Race], which the first to finish wins. An arena that ends early ends its fibers. First the contexts of all are done,
// so that no fiber begins anything new. Then their waits return one fiber at a time: children before parents, the last
// started first. Only a race ends its losers in the order of their start. Every wait has three outcomes: success,
// error, and cancellation with its cause.
//
// # Cost
//
// No operation allocates, except when a queue grows. Timers take logarithmic time, everything else constant time.
package asyncio
