// Package wheel decides what actors do: all rules of actors whose code may block, without the code, the stacks, the
// messages and the clock. It is to them what package polyfill is to fibers.
//
// # The idea
//
// The wheel decides, a substrate switches. A substrate is whoever has stacks: the Go runtime of package asyncio/actors,
// on which guests in wazero run too, and JavaScript with JSPI (jsglue/src/actors), which has the wheel compiled to
// wasm. It tells the wheel what happens, is answered with numbers, and obeys:
//
//	Begin(now)           the scan: who is no longer blocked?
//	Next()               Resume X, Enter X with its oldest message, or Over; X runs from here
//	  Sleep, Recv, Wait  X wants to block: Refused, At once, or Park
//	Back(alive)          control is back, because X has parked or its handler has ended
//
// and Next again, until the step is over. The wheel never calls out, keeps no goroutine and no text, and so a small
// compiler can take it (TinyGo; make core).
//
// # Who keeps what
//
// The wheel counts the messages of a mailbox; what is in them lies with the substrate, in a queue for each actor, first
// in, first out. Times are numbers that the substrate's clock gives. Whether something outside is ready the substrate
// finds out and tells by Ready. A [polyfill.Machine] keeps the states of the fibers: all are suspended but the one that
// runs, and the runtime is the parent of each.
//
// # States of an actor
//
//	idle       no handler of it runs. A message makes it ready.
//	running    from Next to Back: one actor at a time (K-1)
//	blocked    it has parked
//	unblocked  the scan has found that what it waited for has come; it is resumed in the next step
//	over       its handler returned 0 or trapped, or it was stopped
//
// # Cost
//
// An actor is found among n by its ID in log n steps. A scan looks at all that are blocked. Nothing is allocated by a
// step once the tables have grown to what is needed; they never shrink. A Wheel belongs to one thread of control.
//
// Why: RATIONALE.md, "Why do actors have a wheel?".
package wheel
