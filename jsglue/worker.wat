;; Recipe (Binaryen 132), in this folder:
;;   wasm-as --enable-mutable-globals --enable-reference-types --enable-gc --enable-exception-handling --enable-multivalue --enable-tail-call worker.wat -o worker.wasm
;;
;; A worker is a stack that is kept. JavaScript calls it once under WebAssembly.promising; it then asks for a job, does it, and
;; asks again. A job is a thunk (package wasm), which fetches its own arguments and delivers its own results: so one worker
;; serves any export of any instance. A thunk lets no exception out; what passes through here is a trap, and it ends the worker.
;;
;; One instance of this module is shared by all guests of a page.
(module
  (type $job (func))

  ;; Suspending: resolves when there is a job.
  (import "js" "next" (func $next))

  ;; Which it is. Not what next resolves with: to resolve a Promise with a function, the engine looks for its method then.
  (import "js" "job" (func $job (result (ref $job))))

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
  (func $worker (export "worker")
    (call $next)
    (call_ref $job (call $job))
    (return_call $worker)))
