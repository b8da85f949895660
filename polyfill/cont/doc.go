// Package cont is `cont` by stack inspection, where a suspension looks for its handler.
//
// # Model
//
// A continuation waits for values and finally yields values. Resuming it makes the resumer the parent in its hook,
// together with a filter: the events that the resumer admits (D-RESUME-1, D-FILT-1). A suspension names no target. It
// walks outward from the running function, from continuation to continuation, until it finds one whose resumer admits
// the event; everything from there inward is detached as one continuation, and the resumer goes on at its label with an
// evtref, which holds the event's values and the detached continuation (D-SUSPEND-1, D-SUSPEND-2). Events have answers:
// a later resume supplies the tag's results to the suspended instruction (D-TYPE-2).
//
// A continuation is single-use, a [polyfill.Token]: each detachment makes a fresh one. The hook, in which the parent
// stands, is stable: it is the fiber (D-TYPE-1, D-ONE-1).
//
// Forwarding re-raises an event that has been taken: the forwarder becomes the parent of the continuation again and is
// detached together with it, so that the answer goes straight to the leaf (D-FWD-2, D-FWD-3).
//
// # Transitions
//
// I is the issuer, C the continuation that the reference denotes, F the innermost enclosing continuation whose resumer
// R admits the event.
//
//	operation   wants                leaves                                runs next
//	New         -                    a suspended continuation              I
//	Resume C    reference is good    C on the chain, I its parent, busy    C's leaf, with the values
//	Suspend     there is an F        F suspended, those below carried      R, at its label
//	Forward C   the same, for C good C below I, then as Suspend            R, at its label
//	Throw C     reference is good    C on the chain, no filter             C's leaf, exception raised there
//	Return      one is active        it is moribund                        its resumer, next instruction
//
// # Costs and failures
//
// Resume and Return take constant time and the length of the piece that moves; Suspend and Forward also the length of
// the walk. 28 bytes a continuation. A refused operation consumes nothing and has changed nothing.
package cont
