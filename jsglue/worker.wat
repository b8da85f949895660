;; Recipe (Binaryen 132), in this folder:
;; wasm-as --enable-reference-types --enable-gc --enable-exception-handling --enable-tail-call worker.wat -o worker.wasm
;;
;; A worker is a stack that is kept. JavaScript calls it once under WebAssembly.promising, with the object that stands
;; for it. It asks for a runner, does that runner's job, and asks again. A job is a thunk (package jsglue/stubs): it is
;; given the runner, fetches its arguments from it, and delivers its results to it, so one worker serves any export of
;; any instance. A thunk lets no exception out. Only a trap passes through here, and it ends the worker.
;;
;; All guests of a page share one instance of this module.
;; Why: RATIONALE.md, "Why does a worker ask which its job is, and call itself?".
(module
  (type $job (func (param externref)))

  ;; Suspending: resolves when the worker has a runner.
  (import "js" "next" (func $next (param externref)))

  ;; The worker's job, and the runner itself. Not what next resolves with: when a Promise is resolved with a function or
  ;; an object, the engine looks for its then method.
  (import "js" "job" (func $job (param externref) (result (ref $job))))
  (import "js" "runner" (func $runner (param externref) (result externref)))

  ;; The exception that a thunk or a stub caught last, by reference. JavaScript cannot read it ...
  (global $exn (export "exn") (mut exnref) (ref.null exn))

  ;; ... but gets it by calling this in a try block: the object that was thrown, even if that was undefined. The
  ;; reference is cleared first, so that nothing is kept alive; a second call traps.
  (func (export "rethrow")
    (local $e exnref)
    (local.set $e (global.get $exn))
    (global.set $exn (ref.null exn))
    (throw_ref (local.get $e)))

  ;; Traps. The error ends every stack that it is thrown on: wasm code cannot catch a trap, wherever it comes from.
  (func (export "trap") (unreachable))

  ;; Not 0: fibers have frames outside their own regions, so JavaScript must be told when a fiber goes on and when it
  ;; ends (src/guest/shadowstack.ts).
  (global $shared (export "shared") (mut i32) (i32.const 0))

  ;; No local holds the job: a worker that waits for the next one would keep the last one's instance alive. And the
  ;; worker calls itself instead of looping: engines replace a function's code by better code when it is called.
  (func $worker (export "worker") (param $self externref)
    (call $next (local.get $self))
    (call_ref $job (call $runner (local.get $self)) (call $job (local.get $self)))
    (return_call $worker (local.get $self))))
