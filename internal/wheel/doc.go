// Package wheel has all rules of actors whose code may block, without the code, the stacks, the messages and the clock.
// It is to actors what package polyfill is to fibers.
//
// # The idea
//
// The wheel decides, a substrate switches. A substrate holds the stacks. There are two: package asyncio/actors on Go's
// runtime, which also runs guests in wazero, and JavaScript with JSPI (jsglue/src/actors), which uses the wheel
// compiled to wasm. The substrate tells the wheel what happens, gets numbers as answers, and obeys:
//
//	Begin(now)           the scan: who is no longer blocked?
//	Next()               Resume X, Enter X with its oldest message, or Over; X runs from here
//	  Sleep, Recv, Wait  X wants to block: Refused, At once, or Park
//	Back(alive)          control is back, because X has parked or its handler has ended
//
// and Next again, until the step is over. The wheel never calls out and keeps no goroutines and no text, so TinyGo can
// compile it (make core).
//
// # Who keeps what
//
// The wheel counts the messages of a mailbox; the substrate keeps the messages themselves, in a first-in, first-out
// queue for each actor. Times are numbers from the substrate's clock. The substrate finds out whether something outside
// is ready, and calls Ready. A [polyfill.Machine] keeps the states of the fibers: all are suspended except the running
// one, and the runtime is the parent of each.
//
// # States of an actor
//
//	idle       its handler is not running. A message makes the actor ready.
//	running    from Next to Back: one actor at a time (K-1)
//	blocked    it has parked
//	unblocked  the scan has found that its wait is over; it is resumed in the next step
//	over       its handler returned 0 or trapped, or it was stopped
//
// # Cost
//
// Finding one of n actors by its ID takes log n steps. A scan looks at every blocked actor. Once the tables have grown
// to the size needed, a step allocates nothing; the tables never shrink. A Wheel belongs to one thread of control.
//
// Why: RATIONALE.md, "Why do actors have a wheel?".
package wheel
