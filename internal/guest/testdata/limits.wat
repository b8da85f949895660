;; A guest that traps when its stack pointer leaves the stack that it began with, as Emscripten's
;; -sSTACK_OVERFLOW_CHECK=2 makes it. It exports an allocator; the stacks of its fibers must not come from there.
(module
  (import "fiberfill" "yield" (func $yield))
  (memory (export "memory") 2)
  (global $__stack_pointer (mut i32) (i32.const 65536))
  (global $base (mut i32) (i32.const 65536))
  (global $end (mut i32) (i32.const 0))
  (func (export "__set_stack_limits") (param $base i32) (param $end i32)
    (global.set $base (local.get $base))
    (global.set $end (local.get $end)))
  (func (export "malloc") (param i32) (result i32) (i32.shl (memory.grow (i32.const 2)) (i32.const 16)))
  (func (export "free") (param i32))

  (func $set (param $to i32)
    (if (i32.or (i32.gt_u (local.get $to) (global.get $base)) (i32.lt_u (local.get $to) (global.get $end)))
      (then (unreachable)))
    (global.set $__stack_pointer (local.get $to)))

  ;; keep(mark): writes the mark to the stack, waits, and returns what the stack then holds.
  (func (export "keep") (param $mark i32) (result i32) (local $frame i32)
    (call $set (local.tee $frame (i32.sub (global.get $__stack_pointer) (i32.const 16))))
    (i32.store (local.get $frame) (local.get $mark))
    (call $yield)
    (local.set $mark (i32.load (local.get $frame)))
    (call $set (i32.add (local.get $frame) (i32.const 16)))
    (local.get $mark)))
