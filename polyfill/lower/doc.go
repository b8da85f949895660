// Package lower rewrites a module so that its functions can leave the engine's stack and come back, and lowers the
// stack-switching instructions (cont.new, cont.bind, suspend, resume, resume_throw, resume_throw_ref, switch) to that.
// Its output runs in every engine with garbage collection, typed function references and exception references. TinyGo
// compiles it into a program that a page loads when it meets a module that needs it (jsglue/lower).
//
// # The idea
//
// To leave a stack, every function on it saves what it still needs in a frame, innermost first, and returns. To come
// back, a driver enters only the innermost function again, in its middle. When that returns, its results go to the
// frame of its caller, which is entered then, and so on. The stack is never rebuilt: a function that suspends again one
// frame deep pays for one frame, however many wait below. Nobody calls through the old call sites again, so tables may
// change and instances may come and go meanwhile.
//
// Frames are structures of the engine's heap. They hold references as well as numbers, and a continuation that nobody
// holds is garbage, half-way through any number of functions.
//
// # What becomes of a function
//
// Only what may suspend is changed: functions with one of the instructions, calls of imports, and whatever calls those.
// A call through a table or a reference reaches what has the type and can be referred to, and functions from outside if
// references can come in (closure.go). Most such functions keep numbers only: they get compact code (compact.go), in
// one copy if they are no interpreters. The others become two. The hot one is the function as it was, with a check of a
// global after every call that may have been left (a site). Of
//
//	(func $f (param $n i32) (result i32)
//	  (i32.mul (local.get $n) (call $g (local.get $n))))
//
// the hot function is
//
//	(func $f (param $n i32) (result i32)
//	  (local.get $n)
//	  (call $g (local.get $n))
//	  (global.get $state)
//	  (if (param i32 i32) (result i32 i32) (then          ;; $g has been left, and its result is none
//	    (drop)
//	    ;; the operand below, no local that is live, the site, and where to go on
//	    (call $save (i32.const 4) (ref.func $f_cold))
//	    (return (i32.const 0))))                           ;; nobody looks at it
//	  (i32.mul))
//
// and the cold one, which the driver enters with a frame, begins with a dispatch:
//
//	(func $f_cold (param $frame (ref $frame))
//	  (local $n i32) (local $site i32) (local $operand i32) (local $mine (ref null $layout))
//	  (local.set $site …) (local.set $mine …) (local.set $operand …)      ;; what the frame holds
//	  (block (result i32)
//	    (block $before
//	      (br_if $before (local.get $site))                ;; entered again: past all that has happened
//	      … (local.set $operand (local.get $n)) …)
//	    (local.get $operand)
//	    (block $done (result i32)
//	      (block $again
//	        (br_if $again (local.get $site))
//	        (call $g (local.get $n)) … (br $done))
//	      (local.set $site (i32.const 0))
//	      (global.get $i32.0))                             ;; what $g has returned in the meantime
//	    (i32.mul))
//	  (global.set $i32.0))                                 ;; for whoever called $f
//
// Where a site lies in nested constructs, each of them is entered in the same way: blocks around what comes before, and
// a br_table over the sites inside. A loop that goes round finds the site 0 and falls through. Operands at a site, and
// around the constructs it is in, are in locals of the cold function. Constructs that hold sites take their parameters
// with null allowed, since code that goes on inside has none.
//
// A frame has the live locals (a walk backwards over the code finds them) and the operands, each in a field of its own
// type. Frames of the same form share a type and the functions that write them. A frame whose function has returned
// stays linked in its place. Who is left there next uses it again, if it has the same form: a generator in a loop
// allocates no frames.
//
// The functions that are not changed are copied, with the new indices. The hot copy costs a load and a branch a site,
// the cold copy only size. Compact code costs a dispatch at the entry and in each loop with sites, and half the size.
//
// # Between frames
//
// Values pass through registers: globals that all lowered modules of a realm share, by kind of type and number. The
// results of a function that was entered again, the arguments of a resume, the payload of a suspension, all are written
// there in order and read back on the other side, where references are cast to the type that validation has promised.
// So the driver knows no types, and nothing is allocated.
//
// What a lowered module calls of the driver (driver.wat) is part of the module, because a call into another module
// costs as much as ten within one. The modules share its state, a structure and some globals, which the driver imports.
//
// # Continuations
//
// A type (cont $ft) becomes a structure below one that all have, with a field of type (ref null $ft), always null, for
// a brand: equal types stay equal in other modules too, and declared subtyping holds. The structure is a reference for
// one use. It holds a stack, and none once it has been used.
//
// A stack is a chain of frames, from the leaf to the stack itself, which is a frame of the driver's. While it runs it
// is the prompt: it has the tags of the resume's handlers and knows the next prompt outwards. cont.new makes a stack
// with one frame, which calls the function; cont.bind pushes a frame, which puts the bound values before the others. A
// stack that is captured keeps the prompts above it, which lie among its frames.
//
//   - suspend looks along the prompts before anything moves, and traps where it stands if none has the tag. Then frames
//     are saved up to the handler's stack, which is the new continuation.
//   - resume enters the driver's loop. The loop ends with an outcome, returned or the number of a handler, even if the
//     function that executed the resume has been saved in between: that function is entered again with the outcome.
//   - switch captures as suspend does, and the other stack takes the place, and the handlers, of the captured one.
//   - resume_throw enters the leaf with an exception, which it throws where it stands.
//
// # Exceptions and traps
//
// The driver catches what leaves a frame and throws it, by reference, in the next frame that lies in a try_table; each
// frame says whether it does, and the others are dropped without being entered. Identity survives. The older exceptions
// (try, catch) are translated to try_table before anything else is done (exceptions.go).
//
// No wasm code can catch a trap. Below the outermost resume lies one frame of JavaScript, which repairs the driver's
// state, so that no later call finds anything left of the failure, even a call through a table. An export lays this
// frame for everything that it resumes (ground.go). Traps of ours come with a message: JavaScript catches a real trap,
// changes its text and throws it on, and wasm cannot catch it.
//
// # Barriers
//
// Functions that have not been lowered cannot be left: JavaScript, and plain modules. An imported one is called through
// a barrier, a function of the same type (in a module of its own, in a custom section) that hides all handlers for the
// time of the call. A suspension below it traps, and says so. Functions that others put into a table of the module get
// a barrier when they are put there (guards.go). Only JavaScript sees them being put there. One thing is forbidden and
// cannot be detected: a module that is not lowered must not write such a function to the table for others to suspend
// through it.
//
// Barriers also call the function in a global of the driver, if there is one: code that has changed, without
// JavaScript, something that JavaScript keeps a record of updates the record in this function, before any JavaScript
// runs.
//
// # What engines do not know
//
// Engines know no tags with results: they are left out, and the custom section keeps the whole type, by which tags are
// compared when modules are linked. Each tag has an object of the heap for an identity. A function that is left has to
// return something: where a result has no default, a value is made once and kept.
//
// # What fails
//
// A module that is not valid is refused by package validate: an engine would take too much of the output. Refused are,
// with the place: functions that may suspend and return a reference of which no program can make one; a module that
// imports from the driver's name. A module that has been lowered is left alone.
//
// # Two front ends
//
// What is left and entered again (source.go, live.go, compact.go, hot.go, cold.go, the savers) knows nothing of the
// instructions. They are in site.go: what is done at a site before it is known whether the function is left, and what
// after it. The other front end is imports that wait (waits.go): fibers on stacks of fiberfill's own stand on it.
package lower
