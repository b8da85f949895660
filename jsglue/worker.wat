;; Recipe (Binaryen 132), in this folder:
;;   wasm-as --enable-mutable-globals --enable-reference-types --enable-gc --enable-exception-handling --enable-multivalue --enable-tail-call worker.wat -o worker.wasm
;;
;; A worker is a stack that is kept. JavaScript calls it once under WebAssembly.promising, with the object that stands for it; it then
;; asks for a runner, does that one's job, and asks again. A job is a thunk (package jsglue/stubs), which is given the runner, fetches
;; its own arguments from it and delivers its own results to it: so one worker serves any export of any instance. A thunk lets no
;; exception out; what passes through here is a trap, and it ends the worker.
;;
;; One instance of this module is shared by all guests of a page.
;; Why: RATIONALE.md, "Why does a worker ask which its job is, and call itself?".
(module
  (type $job (func (param externref)))

  ;; Suspending: resolves when the worker has a runner.
  (import "js" "next" (func $next (param externref)))

  ;; Its job, and the runner itself. Not what next resolves with: to resolve a Promise with a function or an object, the engine
  ;; looks for its method then.
  (import "js" "job" (func $job (param externref) (result (ref $job))))
  (import "js" "runner" (func $runner (param externref) (result externref)))

  ;; The exception that a thunk or a stub caught last, by reference. JavaScript cannot read it ...
  (global $exn (export "exn") (mut exnref) (ref.null exn))

  ;; ... but gets it by calling this in a try block: the same object that was thrown, even where that was undefined. It is
  ;; forgotten first, so that nothing is kept alive; a second call traps.
  (func (export "rethrow")
    (local $e exnref)
    (local.set $e (global.get $exn))
    (global.set $exn (ref.null exn))
    (throw_ref (local.get $e)))

  ;; Traps. The error it leaves with ends every stack that it is thrown on: wasm code cannot catch a trap, wherever it is from.
  (func (export "trap") (unreachable))

  ;; The job is in no local: a worker that waits for the next one would keep the last one's instance alive. And there is no
  ;; loop: engines replace the code of a function by better code when it is called.
  (func $worker (export "worker") (param $self externref)
    (call $next (local.get $self))
    (call_ref $job (call $runner (local.get $self)) (call $job (local.get $self)))
    (return_call $worker (local.get $self))))
