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

  ;; Where the fibers that wait go on, each in a slot of its own: for an engine to take a continuation from JavaScript
  ;; would cost more than all the rest.
  (table $slots (export "slots") 0 (ref null $waiting))

  ;; Both return whether the fiber waits; if not, its job has returned.
  (func (export "begin") (param $job (ref $job)) (param $runner externref) (param $slot i32) (result i32)
    (local $at (ref null $waiting))
    (local.set $at
      (block $waits (result (ref $waiting))
        (resume $fresh (on $wait $waits) (local.get $runner) (cont.new $fresh (local.get $job)))
        (return (i32.const 0))))
    (table.set $slots (local.get $slot) (local.get $at))
    (i32.const 1))

  (func (export "goOn") (param $slot i32) (result i32)
    (local $at (ref null $waiting))
    (local.set $at
      (block $waits (result (ref $waiting))
        (resume $waiting (on $wait $waits) (table.get $slots (local.get $slot)))
        (call $drop (local.get $slot))
        (return (i32.const 0))))
    (table.set $slots (local.get $slot) (local.get $at))
    (i32.const 1))

  (func $drop (export "drop") (param $slot i32) (table.set $slots (local.get $slot) (ref.null $waiting)))

  (func (export "grow") (param $n i32) (drop (table.grow $slots (ref.null $waiting) (local.get $n)))))
