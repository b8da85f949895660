// Package conformance is one suite for the four systems that every substrate runs: Go coroutines, JSPI stacks,
// goroutines in wazero calls.
//
// # Scripts
//
// Exactly one computation is active at any time (K-1). So a program for a test need not be one function a fiber: it is
// one list of operations for all of them, and whichever computation is active takes the next. Every fiber's function is
// the same loop:
//
//	take the next operation, perform it, record what came back, again
//
// An operation of which the outcome comes much later, like a resume, is recorded when it comes. A [Script] with what
// was recorded is a transcript, which is what the cases in testdata are and what a failure prints:
//
//	root: new 3 on t1              operation, and who performed it
//	  root: f0                     outcome: a fiber, which is called f0 from now on
//	root: resume f0 t1 7 on t2     sends t1 with the payload number 7, takes t2
//	  f0: starts 3 at 0 t1(7)      entered with the captured 3, first event of its list
//	f0: suspend f0 t2 1
//	  root: at 0 t2(4294967297 0.75)
//	root: resume f0 t2 1
//	  trap receiver has no handler for the event
//
// The loop that plays scripts is written once for every kind of guest: in Go, and in C for guests in wasm, which read
// the bytes of [Encode] and write those that [Decode] reads; see [Player]. Its transcripts are compared with the cases,
// which are the rules by example, and on random scripts with [Reference], which is the rules as slow, plain code.
// [Check] does all that with a substrate.
//
// # What the names mean
//
// f0, f1, ... are the fibers of fibers1 and fibers2 in the order of their making. In stacks and cont k0, k1, ... are
// the computations, r0, r1, ... the single-use references in the order in which they were handed out, and e0, e1, ...
// the evtrefs. null and fake are references that were never handed out. The tags t0 to t5 carry values of the
// signatures in [Tags]; tx is a tag of another machine. A payload is written as one number, from which the values are
// made: see values.go.
package conformance
