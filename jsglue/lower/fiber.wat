;; Recipe (Binaryen 132), in this folder:
;;   wasm-as --enable-reference-types --enable-gc --enable-bulk-memory --enable-exception-handling \
;;     --enable-stack-switching -g fiber.wat -o fiber.wasm
;;
;; What begins a fiber on a stack of our own, and goes on with it (src/substrate/unwind.ts). It is lowered like any
;; guest. A job is a thunk (package jsglue/stubs): it is given the runner and lets no exception out. An import that
;; waits suspends with the tag, up to here (package polyfill/lower, Waits).
;; By its name it is found in the engine's stack traces (src/lower/frames.ts).
(module $fiberfill.fiber
  (type $job (func (param externref)))
  (type $fresh (cont $job))
  (type $wait (func))
  (type $waiting (cont $wait))
  (import "host" "wait" (tag $wait (type $wait)))
  (import "wait" "able" (func $able (result i32)))

  ;; Where the fibers that wait go on, each in a slot of its own: for an engine to take a continuation from JavaScript
  ;; would cost more than all the rest. There is no other reference to a continuation, and the rewriter knows
  ;; (polyfill/lower, Options.Revive): the one that is in a slot can be resumed until the fiber ends.
  (table $slots (export "slots") 0 (ref null $waiting))

  ;; What JavaScript, the loop below and yield.wat tell each other without a call (src/substrate/cells.ts). At 0: the
  ;; slot of the fiber that goes on next, or -1. At 4: the slot of the one that went on last.
  (memory (export "memory") 1)

  ;; Both return whether the fiber waits; if not, its job has returned.
  (func (export "begin") (param $job (ref $job)) (param $runner externref) (param $slot i32) (result i32)
    (local $at (ref null $waiting))
    (local.set $at
      (block $waits (result (ref $waiting))
        (resume $fresh (on $wait $waits) (local.get $runner) (cont.new $fresh (local.get $job)))
        (return (i32.const 0))))
    (table.set $slots (local.get $slot) (local.get $at))
    (i32.const 1))

  ;; Goes on with this fiber, and when that waits with the next one, as long as there is one: the last of them is meant.
  (func (export "goOn") (param $slot i32) (result i32)
    (loop $next
      (i32.store (i32.const 4) (local.get $slot))
      (drop
        (block $waits (result (ref $waiting))
          (resume $waiting (on $wait $waits) (table.get $slots (local.get $slot)))
          (call $drop (local.get $slot))
          (return (i32.const 0))))
      (local.set $slot (i32.load (i32.const 0)))
      (i32.store (i32.const 0) (i32.const -1))
      (br_if $next (i32.ge_s (local.get $slot) (i32.const 0))))
    (i32.const 1))

  ;; Whether an import could wait where this is called: the import here never does, and tells.
  (func (export "able") (result i32) (call $able))

  (func $drop (export "drop") (param $slot i32) (table.set $slots (local.get $slot) (ref.null $waiting)))

  (func (export "grow") (param $n i32) (drop (table.grow $slots (ref.null $waiting) (local.get $n)))))
