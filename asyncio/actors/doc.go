// Package actors runs actors whose code may block: in a sleep, or waiting for a message or a file descriptor. Meanwhile
// the runtime runs the other actors.
//
// # The idea
//
// An actor has a mailbox and one handler, which handles one message at a time. A native actor is part of the program. A
// guest actor is foreign code, a Go function or a wasm module, that sees the world only through its [Host]. If a
// handler blocked the one thread of a runtime, every actor would stop. So a guest that may block is spawned with a
// stack of its own, a fiber. Its blocking call records what it waits for and gives control back to the runtime, in the
// middle of the handler. The runtime resumes it when the wait is over. The guest does not notice: its locals are
// intact, and it needs no callback.
//
// # A step
//
// [Runtime.Step] is one turn of the wheel (E-STEP-1):
//
//	scan     every blocked guest: if its deadline has passed, its descriptor is ready, or the message
//	         that it waits for has come, it is no longer blocked and goes on in the next step
//	resume   the guests that the previous scan found, the earliest deadline first
//	deliver  one message, to the actor that has been ready longest
//
// A step never waits. [Runtime.Run] calls Step until a condition is met, and sleeps by the runtime's clock while no
// step could do anything. With a virtual clock that takes no time.
//
// # States of an actor
//
//	idle       its handler is not running. A message makes the actor ready.
//	running    its handler runs: one actor at a time
//	blocked    its handler is suspended, and is not called again. Messages stay in the mailbox, in
//	           order, and wake the actor only if it waits for a message.
//	unblocked  its wait is over; it is resumed in the next step
//	over       its handler returned 0 or trapped, or it was stopped. Other actors are not affected.
//
// Package internal/wheel decides all this, without code, stacks or clocks. This package carries it out with Go
// coroutines; JavaScript does so with JSPI.
//
// # Stack classes
//
// A guest gets its stack at spawn, in one of three sizes, or none, because frames on the runtime's stack cannot be
// moved once a guest blocks. An actor of class none costs no fiber memory, and every blocking call returns -1 at once.
// The stacks of Go functions grow as needed; their class only counts against [Config.StackMemory]. For a wasm module
// the class is the real size of the stack in its memory, see package actors/wasm.
//
// # Blocking calls
//
// Blocking calls return numbers, not errors, because guests in every language have numbers: 0 for success, -1 for
// failure. A host builds further blocking calls, such as an HTTP request, from [Host.Wait].
//
// A Runtime belongs to one thread of control: its methods must not be called concurrently. Handlers may call only the
// methods that say so.
package actors
