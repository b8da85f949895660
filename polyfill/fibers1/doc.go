// Package fibers1 is fibers v1: typed fibers with resume parents, and events that are taken by the event blocks around
// an instruction.
//
// # Model
//
// A fiber is a function on a stack of its own. Resuming it makes the resumer its resume parent; the parent waits until
// the fiber suspends, retires or returns. Any holder of a reference may resume the fiber, so its parent may differ each
// time (A-PARENT-2). Every switch carries an event: a tag and values of the tag's types. The event is taken by the
// nearest event block that lexically encloses the instruction at which the receiver waits (A-HDL-2); here those blocks
// are one [polyfill.Table], innermost first, which the waiting instruction names. A receiver without a matching block
// is a mistake and traps (A-HDL-7): a protocol in this system is complete or it is wrong.
//
// A fiber has a type: the results of its function (A-TYPE-1).
//
// # Transitions
//
// F is the first operand, P its resume parent, I the issuer. Every operation checks references, then states, then
// whether the receiver takes the event, and only then changes anything (K-2).
//
//	operation      wants                    leaves                              runs next
//	New            -                        F suspended, never started          I
//	Spawn          -                        F active, I busy                    F, first instruction
//	Resume F       F suspended              F on the chain, I its parent, busy  F's leaf, at the block
//	Suspend F      F active or ancestor     F suspended, fibers below carried   P, at the block
//	Switch F T     the same, T suspended    F suspended, T has P as parent      T's leaf, at the block
//	Retire F       F active or ancestor     F and all below it moribund         P, at the block
//	RetireTo F T   the same, T suspended    the same, T has P as parent         T's leaf, at the block
//	Release F      F suspended              F and all it carries moribund       I
//	Return         a fiber is active        it is moribund                      P, after its resume
//	Throw          a fiber is active        it is moribund                      P, exception raised there
//
// # Costs
//
// Constant time, plus the length of the piece that moves and the place of the tag in the receiver's table. A fiber
// takes 24 bytes here. Nothing is allocated but the growth of slices.
//
// # Failures
//
// A refused operation returns a trap and changes nothing. A trap ends the whole live chain (K-9): the substrate ends
// the stacks, and [polyfill.Machine.Unwind] the fibers. [System.Rule] names the rule that refused an operation.
package fibers1
