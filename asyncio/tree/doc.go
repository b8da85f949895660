// Package tree runs schedulers below schedulers. Each is in charge of its own fibers, and all share one event loop.
//
// # The idea
//
// An event loop can complete I/O, but it must not enter the fiber that waits for it. When that fiber waited again, or
// ended, control would return to the event loop, and no scheduler would run the other fibers (J-MUX-5). With one
// scheduler the remedy is an inbox. In a tree of schedulers the fiber's scheduler is suspended too, and so is the
// scheduler above it, so the way down has to be found.
//
// So a [Scheduler] is a fiber like its clients. It enters them, one at a time. When none of them can go on, it suspends
// itself to the scheduler above and hands up one promise for everything its clients wait for: the composite. The
// composite settles when the first of those promises does, and names the client. The scheduler above treats it like the
// promise of any client; it cannot tell a scheduler from a leaf. The event loop waits for the composite of the
// outermost scheduler.
//
//	event loop
//	  R            waits for { L1, L2 }      settles: L1
//	    L1         waits for { a, b }        settles: a
//	      a        waits for its timer       settles
//	      b        waits for its timer
//	    L2         waits for { c }
//	      c        waits for its timer
//
// When a's timer expires, the composites settle from the bottom up, and nothing runs yet. Then the event loop enters R,
// R enters L1, and L1 enters a. So every fiber that suspends again returns to the scheduler that entered it (J-TREE-3).
// L2 and b are not touched.
//
// # Promises
//
//  1. Between two turns every scheduler and every leaf is suspended (J-TREE-2).
//  2. Only the event loop enters the outermost scheduler, and only a fiber's own scheduler enters the fiber.
//  3. A scheduler makes a new composite at each pause, from the clients that still wait (J-TREE-5). Clients whose
//     promises have settled meanwhile run first, in the order of settlement, in the same turn. No wake-up is lost, and
//     none comes twice.
//  4. A rejected promise is settled too: it wakes its leaf, with the error.
//  5. Each time a scheduler is entered, it runs each ready client once and then gives way to its siblings. So busy
//     clients starve no other fiber, in any scheduler.
//  6. A scheduler is over when all its clients are. The tree is over when the outermost scheduler is.
//
// # States
//
// A [polyfill.Machine] keeps the states, and every step goes through it. A scheduler that has entered a client is busy
// and is the client's parent; a client that waits is suspended. The stacks are coroutines of the Go runtime, nested
// like the fibers they carry. A tree belongs to one thread of control: its functions must not be called, and its
// promises not be settled, concurrently.
package tree
