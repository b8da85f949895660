// Package tree runs schedulers below schedulers, each in charge of its own fibers, all of them behind one event loop.
//
// # The idea
//
// An event loop can complete I/O, but it must not enter the fiber that waits for it: when that fiber waits again, or
// ends, control would be back in the event loop, while everybody else still waits for a scheduler that nobody enters
// (J-MUX-5). With one scheduler the remedy is an inbox. With a tree of them the way down has to be found as well: the
// fiber's scheduler is suspended too, and so is the scheduler above it.
//
// So a [Scheduler] is a fiber like its clients: it enters them, one at a time, and when none of them can go on it
// suspends itself to the scheduler above. What it hands up is one promise for all that its clients wait for, the
// composite: it settles when the first of them does, and names the client. The scheduler above treats it as it treats
// the promise of any client; it cannot tell a scheduler from a leaf. The composite of the outermost scheduler is what
// the event loop waits for.
//
//	event loop
//	  R            waits for { L1, L2 }      settles: L1
//	    L1         waits for { a, b }        settles: a
//	      a        waits for its timer       settles
//	      b        waits for its timer
//	    L2         waits for { c }
//	      c        waits for its timer
//
// When a's timer is done, composites settle on the way up and nothing runs yet. Then the event loop enters R, R enters
// L1, L1 enters a: each level before the next, so that every fiber, when it suspends again, finds the one that entered
// it waiting for just that (J-TREE-3). L2 and b are not touched.
//
// # Promises
//
//  1. Between two turns every scheduler and every leaf is suspended (J-TREE-2).
//  2. Only the event loop enters the outermost scheduler, and only its scheduler enters a fiber.
//  3. A composite is made anew at each pause from the clients that still wait
//     (J-TREE-5). Those that have settled meanwhile are run first, in the order in
//     which they settled, in the same turn: none is lost, none is woken twice.
//  4. A rejected promise is a settled one: it wakes its own leaf, with the error.
//  5. Each time it is entered, a scheduler runs each client that is ready once, and
//     then gives way to its siblings: busy clients starve nobody, in no scheduler.
//  6. A scheduler whose clients are all over is over, and the tree with the outermost.
//
// # States
//
// A [polyfill.Machine] keeps the states, and every step goes through it: a scheduler that enters a client is busy and
// the client's parent, a client that waits is suspended. The stacks are coroutines of the Go runtime, entered inside
// each other like the fibers that they carry. A tree belongs to one thread of control: its functions, and the settling
// of its promises, must not run at the same time.
package tree
