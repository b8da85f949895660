;; The guest of all contestants that run wasm: the same bytes for each, except for Asyncify, which rewrites them. make
;; guests assembles it, make guests-check compares it.
;;
;; It looks like compiled code: it has a memory with a shadow stack in it. No value lies on that stack across a wait;
;; otherwise contestants that do not keep shadow stacks apart would compute wrong results.
(module
  ;; Lets the other fibers run. Waits.
  (import "fiberfill" "yield" (func $yield))

  ;; Waits for the call's own event, and returns the event's value.
  (import "env" "wait" (func $wait (param $id i32) (result i32)))

  (memory (export "memory") 2)
  (global $__stack_pointer (export "__stack_pointer") (mut i32) (i32.const 65536))

  ;; Yields n times and returns how often it did.
  (func (export "turns") (param $n i32) (result i32)
    (local $done i32)
    (loop $again
      (call $yield)
      (local.set $done (i32.add (local.get $done) (i32.const 1)))
      (br_if $again (i32.lt_s (local.get $done) (local.get $n))))
    (local.get $done))

  ;; One call that waits once.
  (func (export "call") (param $id i32) (result i32)
    (i32.add (call $wait (local.get $id)) (i32.const 1)))

  ;; n steps of a xorshift generator with a store to memory each: work without an import.
  (func (export "compute") (param $n i32) (result i32)
    (local $x i32)
    (local.set $x (i32.const 2463534242))
    (loop $again
      (local.set $x (i32.xor (local.get $x) (i32.shl (local.get $x) (i32.const 13))))
      (local.set $x (i32.xor (local.get $x) (i32.shr_u (local.get $x) (i32.const 17))))
      (local.set $x (i32.xor (local.get $x) (i32.shl (local.get $x) (i32.const 5))))
      (i32.store (i32.and (local.get $x) (i32.const 0x7ffc)) (local.get $x))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $x)))
