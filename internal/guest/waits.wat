;; What stands between a guest on a server and the imports that wait.
;;
;; A host function of the runtime can return or trap, but it cannot throw. A guest has to see a failed or cancelled wait
;; as an exception, as in a browser, so that its own cleanup runs. So each host function returns one more number, which
;; is not 0 if the wait has failed, and the exception is thrown here.
;;
;; The module is instantiated twice, as "env" and as "fiberfill". `go run ./cmd/build guests` assembles it.
;; Why: RATIONALE.md, "Why is there wasm between a guest and its imports on a server, too?".
(module
  (import "host" "fetch_text" (func $fetch_text (param i32 i32 i32 i32) (result i32 i32)))
  (import "host" "yield" (func $yield (result i32)))
  (import "host" "sleep_ms" (func $sleep_ms (param i32) (result i32)))
  (import "host" "log" (func $log (param i32 i32)))

  (tag $failed)

  (func (export "fetch_text") (param i32 i32 i32 i32) (result i32)
    (call $fetch_text (local.get 0) (local.get 1) (local.get 2) (local.get 3))
    (if (then (throw $failed))))

  (func (export "yield")
    (if (call $yield) (then (throw $failed))))

  (func (export "sleep_ms") (param i32)
    (if (call $sleep_ms (local.get 0)) (then (throw $failed))))

  (export "log" (func $log)))
