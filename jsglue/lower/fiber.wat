;; Recipe (Binaryen 132), in this folder:
;;   wasm-as -all fiber.wat -o fiber.wasm
;;
;; What begins a fiber on a stack of our own, and goes on with it (src/substrate/unwind.ts). It is lowered like any
;; guest. A job is a thunk (package jsglue/stubs): it is given the runner and lets no exception out. An import that
;; waits suspends with the tag, up to here (package polyfill/lower, Waits).
(module
  (type $job (func (param externref)))
  (type $fresh (cont $job))
  (type $wait (func))
  (type $waiting (cont $wait))
  (import "host" "wait" (tag $wait (type $wait)))

  ;; Both return where the fiber goes on, or null if its job has returned.
  (func (export "begin") (param $job (ref $job)) (param $runner externref) (result (ref null $waiting))
    (block $waits (result (ref $waiting))
      (resume $fresh (on $wait $waits) (local.get $runner) (cont.new $fresh (local.get $job)))
      (return (ref.null $waiting))))

  (func (export "goOn") (param $at (ref $waiting)) (result (ref null $waiting))
    (block $waits (result (ref $waiting))
      (resume $waiting (on $wait $waits) (local.get $at))
      (return (ref.null $waiting)))))
