// Package actors runs actors whose code may block: in a sleep, in the wait for a message or for a file descriptor,
// while the runtime goes on with the others.
//
// # The idea
//
// An actor has a mailbox and one handler, which is called for one message at a time. A native actor is part of the
// program; a guest actor is code of somebody else, a Go function or a wasm module, that sees the world only through its
// [Host]. A runtime on one thread would stand still when a handler blocks. So a guest that wants to block is spawned
// with a stack of its own, a fiber: its blocking call writes down what it waits for and gives control back to the
// runtime in the middle of the handler, and the runtime enters it again when the time has come. The guest does not
// notice; its locals are as they were, and there is no callback.
//
// # A step
//
// [Runtime.Step] is one turn of the wheel (E-STEP-1):
//
//	scan     of each blocked guest: is its deadline over, its descriptor ready, its mailbox not empty?
//	         Then it is no longer blocked; it goes on in the next step.
//	resume   those that the step before has found, the earliest deadline first
//	deliver  one message, to the actor that has been ready for one for longest
//
// A step never waits. With a virtual clock the owner turns the wheel and the clock; [Runtime.Run] does both, and with
// the real clock sleeps when no step could do anything.
//
// # States of an actor
//
//	idle       no handler of it runs. A message makes it ready.
//	running    its handler runs: one actor at a time
//	blocked    its handler is suspended. Messages stay in the mailbox, in order, and do not wake it
//	           unless it is a message that it waits for. Its handler is not called again.
//	unblocked  what it waited for has come; it is resumed in the next step
//	over       its handler returned 0 or trapped, or it was stopped. Others are not concerned.
//
// Package internal/wheel decides all this, and has no code, stacks or clocks; this package does what it says, with
// coroutines of Go. JavaScript does the same with JSPI.
//
// # Stack classes
//
// A stack is given at spawn, in one of three sizes, or none: frames that run on the runtime's stack cannot be moved
// when the guest turns out to block. An actor of class none costs no fiber memory, and every blocking call returns -1
// to it at once. The stacks of Go functions grow as they need; their class is only counted against
// [Config.StackMemory]. To a wasm module it is the real size of the stack in its memory: see package actors/wasm.
//
// # Blocking calls
//
// They return numbers and not errors, because guests of all languages have numbers: 0 is success, -1 is not.
// [Host.Wait] is what all of them are made of, and what further ones, an HTTP request for instance, can be made of.
//
// A Runtime belongs to one thread of control: its methods must not be called at the same time, and from handlers only
// those that say so.
package actors
