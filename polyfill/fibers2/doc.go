// Package fibers2 is fibers v2: untyped fibers with control parents, and handlers that belong to the instruction.
//
// # Model
//
// A fiber is suspended without control parent, or it has one and runs or is busy, or it is moribund (B-STATE-1).
// Mounting sets the parent, switching moves it to another fiber, dismounting clears it, and so does the function's end
// (B-PARENT-1). Each of the three carries an event for the receiver, and a table of handlers with which the issuer
// waits until it is woken.
//
// What sets this system apart: a receiver without a handler for the event is not a mistake. Nothing is transferred and
// the issuer goes on with its next instruction (B-EVT-2), so that a cheap event can be tried before a general one. The
// function's return is also an event. Its tag is named when the fiber is made (B-NEW-5), and it is the only event that
// the receiver must take.
//
// # Transitions
//
// F is the first operand, P its control parent, I the issuer. Checks come in the order references, states, handler
// (K-2, B-EVT-3); the last one does not trap but falls through.
//
//	operation           wants                    leaves                               runs next
//	New                 -                        F suspended, never started           I
//	Mount F             F suspended              F on the chain, I its parent, busy   F's leaf, at the handler
//	Switch F T          F active or ancestor,    F suspended, T has P as parent       T's leaf, at the handler
//	                    T suspended or F
//	Dismount F          F active or ancestor     F suspended, fibers below carried    P, at the handler
//	Release F           F suspended or moribund  F and all it carries moribund        I
//	MountNew            -                        a new F as after Mount               F
//	SwitchNew F         F active or ancestor     F suspended, a new T has P           T
//	DismountRelease F   as Dismount              F and all below it moribund          P, at the handler
//	SwitchRelease F T   as Switch, T not F       F and all below it moribund          T's leaf, at the handler
//	Return              a fiber is active        it is moribund                       P, at its return event's handler
//	Throw               a fiber is active        it is moribund                       P, exception raised there
//
// # Costs and failures
//
// As in package fibers1: constant time but for the piece that moves, 24 bytes a fiber; a refused operation has changed
// nothing; [System.Rule] names the rule.
package fibers2
