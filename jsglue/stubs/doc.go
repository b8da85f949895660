// Package stubs writes the wasm that stands between a guest and JavaScript: module A, the trampolines by which the
// guest calls imports that may wait, and module B, the stubs in which fibers wait and the thunks by which workers call
// exports. TinyGo compiles it into the core; its functions are marked noinline for the reason that package wasm gives.
//
// # Why two generated modules
//
// A fiber waits in a stub: wasm that saves the shadow-stack pointer, calls the suspending import, and puts the pointer
// back. JavaScript cannot put it back, because it does not see the instant of resumption, and no frame of JavaScript
// may stand on a stack that suspends. The guest imports its stubs, so they must exist before it does; but a stub uses
// the guest's stack pointer, so the guest must exist before it. Module A breaks this cycle: it is instantiated first
// and gives the guest, for each import that may wait, a trampoline that calls through a slot. Module B is instantiated
// last and fills the slots:
//
//	A -> guest -> B
//
// Both begin with the guest's type section, byte for byte, and go on with a few function types of their own. So a type
// index of the guest means the same in A and B, and since engines compare types by structure it is the same type, also
// where it is a group of types that refer to each other, or a struct.
//
// # Module A: trampolines
//
// For function import i (counting functions only) of type T that is marked as one that may wait:
//
//	(import "start" "<i>" (func $start (type T)))
//	(global $s (export "s<i>") (mut (ref null T)) (ref.func $start))
//	(func (export "f<i>") (type T)
//	  local.get <each parameter>
//	  global.get $s
//	  return_call_ref T)
//
// It costs 2 to 4 ns a call. With a plain call the trampoline's frame would stay on the stack, and a call that waits
// would cost as much again, because the processor mispredicts the return addresses of a resumed stack. JavaScriptCore
// (Safari, Bun) pays that price: it cannot suspend a stack on which one instance has called another by a tail call, so
// there the trampoline uses call_ref. Imports that never wait are not in A. Until B exists a call goes to start.<i>:
// only the guest's start function can make it, and nothing can be suspended there.
//
// # Module B: thunks
//
// For export k of the guest, if it is a function; k counts exports of all kinds; with lines in brackets only if fibers
// have regions:
//
//	(func (export "t<k>") (param $runner externref)
//	  try_table (catch_all_ref $failed)
//	    sp := js.start($runner)
//	    [low := sp - js.size]
//	    <result>... := guest.<k>(js.arg:<type>($runner, 0), js.arg:<type>($runner, 1), ...)
//	    js.result:<type>($runner, 0, <result>) ...
//	    [look]
//	    if worker.shared { js.ended($runner) }   what it has on other stacks is given back, before JavaScript runs
//	    sp := js.rest
//	    return
//	  $failed:
//	  worker.exn := the exception
//	  [look]
//	  if worker.shared { js.ended($runner) }
//	  sp := js.rest
//	  js.failed($runner))
//
// A thunk is what a worker (jsglue/worker.wat) calls, with the runner: the JavaScript object that holds the arguments
// of one call and gets its results. All thunks have that one type, so that one worker serves every export. The
// functions that carry a value are imported once for each value type, whose first byte ends the name: "arg:127" (0x7f)
// takes the runner and the number of the parameter and returns an i32. The engine converts between JavaScript and wasm
// as in any call; what cannot be converted is a TypeError that arrives in failed like every other exception. It costs
// two calls for the thunk, and 5 to 6 ns for each argument and result.
//
// # Module B: stubs
//
// For function import i of type T that is marked, with lines in brackets only if fibers have regions:
//
//	(func (type T)
//	  saved := sp
//	  parked := saved                     exported: where the stack of the fiber that parks ends
//	  [look]                              and keep low
//	  try_table (catch_all_ref $thrown)
//	    sp := js.rest                     the engine calls JavaScript from here, which may call the guest
//	    wait.<i>(<each parameter>)        Suspending; its results stay on the operand stack
//	    sp := saved                       [and low]
//	    if worker.shared { js.resumed() } the fiber gets back what else it has on shadow stacks
//	    return
//	  $thrown:
//	  sp := saved                         [and low]
//	  worker.exn := the exception
//	  if js.refused(i)                    true where the engine refused to suspend; may throw another exception
//	    direct.<i>(<each parameter>)      the same import, for a call that does not have to wait
//	    return
//	  if worker.shared { js.resumed() }
//	  throw_ref the exception)
//
// The exported global low is where the running fiber's region begins. [look] compares the 64 bytes there with what
// regions.ts has written, in a stub also saved with low, and calls js.touched if they differ or if the stack ends below
// its region. JavaScript could do the same at each wait, but takes three times as long.
//
// Values pass through the engine, of their own types and untouched; an exception is thrown on by reference, the same
// object, also where that is undefined. Apart from the wait itself, which the engine prices, it costs some ten
// instructions. A guest without a stack pointer gets the same stubs and thunks without those lines (start is still
// called, as it also prepares the arguments).
//
// B's start function does slots.s<i> := stub for every i. All else that B imports is said in the lines above; "guest"
// "sp" is the stack pointer, "js" "rest" where it is when no fiber runs (a global: frames of fibers that wait may lie
// above), "js" "size" how many bytes a region has, "worker" "exn" and "worker" "shared" globals of worker.wasm, of
// which there is one instance. shared is 0 as long as every fiber has all its frames in its own region;
// src/guest/shadowstack.ts sets it to 1.
//
// # What fails, and how
//
//   - A binary that wasm.Parse accepts and an engine refuses: the engine also refuses what is generated from it.
//   - The engine refuses to suspend (a stack not under WebAssembly.promising, or JavaScript frames on it): it throws a
//     SuspendError at the call of wait.<i>, before any function of ours. It arrives in refused, and the stub may still
//     call the import directly.
//   - A trap: nothing in wasm can catch it. Neither failed nor refused is called, the stack pointer stays where it was,
//     and the worker's promise rejects: JavaScript sets the pointer back to rest and starts another worker.
//   - start may throw (no region is left, an argument is wrong): failed gets the exception. resumed and ended must not.
//   - An export or import with v128 or exnref: JavaScript has no such values, so the call throws a TypeError, as
//     without us.
package stubs
