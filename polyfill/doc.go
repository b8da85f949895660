// Package polyfill is the machine: what a fiber is, which of them runs, and which transitions between them are allowed.
//
// # The idea
//
// Every proposal for stack switching in WebAssembly (fibers v1 and v2, single-use stack references, cont, actors with
// blocking calls) describes its operations in its own words, and all of them reduce to the same few primitives: make a
// stack, test its state, enter it below the running one, detach a part of the running chain, let one stack take
// another's place, end it. This package has those primitives once. The proposals' operations, and the scheduler in
// package asyncio, are compositions of them.
//
// The machine decides; it does not switch. It is told "enter F" and answers with the fiber that runs now, or with a
// [Trap]. Something else, the substrate, performs the jump: a Go coroutine, a JSPI stack, a goroutine that sits in a
// wazero call. So the machine has no clock, no I/O, no goroutine and no JavaScript in it, never blocks, and can be
// compiled to a few kilobytes of wasm.
//
// # Model
//
// Exactly one computation is active (K-1). The active fiber, its parent, its grandparent and so on up to the root are
// the live chain. The root is the embedder's own stack: it has no reference, is never an operand and is never
// suspended, so "the parent is the root" is written as the null reference.
//
// A fiber that enters another becomes its parent and is busy until control comes back. Detaching F, which may be the
// active fiber or any ancestor of it, takes F and everything between F and the active fiber out of the live chain as
// one piece, with its inner links kept; F's parent becomes active. Entering F later puts the whole piece back, and
// control reappears in the leaf that was active when it was detached (K-8).
//
// # States
//
//	suspended  may be entered; never started, or detached by name
//	active     the one that runs
//	busy       on the live chain, has entered a child that has not come back
//	carried    inside a piece whose top is suspended
//	moribund   over; its reference stays a legal value for ever
//
// All transitions, by operation; an operation that is given any other state answers with a trap and changes nothing
// (K-2):
//
//	New             -                  -> suspended
//	Enter(F)        F suspended        -> active (or busy, with its leaf active); the issuer -> busy
//	Detach(F)       F active or busy   -> suspended; between F and the leaf -> carried; parent -> active
//	Replace(S, T)   S active or busy, T suspended: Detach(S), then T takes S's parent
//	Kill(F)         F suspended        -> moribund, and all that it carries
//	Return          the active fiber   -> moribund; its parent -> active
//	Unwind          the live chain     -> moribund, all of it; the root -> active
//
// # References
//
// A [Fiber] is a number that is never used twice: a slot and the slot's generation. A slot whose generations are used
// up is retired. References are therefore stable through all states (J-ID-1), a reference to a fiber that is over is
// recognised as such for ever, and an invented one is refused. [Token]s are single-use references on top: one is good
// for one suspension (C-REF-1).
//
// # Events
//
// [Events] adds what most systems send when they switch: tags, which are compared by identity, and for each computation
// the table of tags that it takes where it waits. Whether a receiver takes an event is known before anything changes.
// The values that go with an event are the substrate's business; their [Types] are checked here.
//
// # The systems
//
// Each is a package of pure transition functions over a Machine, with the names of its document: fibers1, fibers2,
// stacks, cont. Package run lets Go functions be their fibers, package conformance is the suite for all of them.
//
// # Cost
//
// 16 bytes a live fiber, no pointers, nothing allocated but the growth of one slice. New, Return and the state tests
// take constant time; Enter, Detach and Kill walk the piece that they move, which is one fiber long unless fibers have
// entered fibers.
//
// A Machine belongs to one thread of control: two goroutines must not use it at the same time.
//
// Why: RATIONALE.md, "Why one machine under all vocabularies?".
package polyfill
