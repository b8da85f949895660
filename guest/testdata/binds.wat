;; What bind_test.go runs: imports of every type, and one that writes to the caller's stack.
(module
  (import "host" "mix" (func $mix (param i32 i64 f32 f64) (result i64)))
  (import "host" "both" (func $both (param i32 i64) (result i32 f64)))
  (import "host" "lookup" (func $lookup (param i32 i32 i32)))
  (memory (export "memory") 2)
  (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))

  (func (export "mix") (param i32 i64 f32 f64) (result i64)
    (call $mix (local.get 0) (local.get 1) (local.get 2) (local.get 3)))

  (func (export "both") (param i32 i64) (result i32 f64)
    (call $both (local.get 0) (local.get 1)))

  ;; The answer to a text comes to this function's frame on the shadow stack.
  (func $ask (export "ask") (param $text i32) (param $length i32) (result i32)
    (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
    (i32.store (local.get $frame) (i32.const -1))
    (call $lookup (local.get $text) (local.get $length) (local.get $frame))
    (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
    (i32.load (local.get $frame)))

  ;; Cleans up behind a failed wait, and lets the exception go on.
  (global $cleaned (export "cleaned") (mut i32) (i32.const 0))
  (func (export "ask_or_clean") (param $text i32) (param $length i32) (result i32)
    (block $failed (result exnref)
      (return
        (try_table (result i32) (catch_all_ref $failed)
          (call $ask (local.get $text) (local.get $length)))))
    (global.set $cleaned (i32.add (global.get $cleaned) (i32.const 1)))
    (throw_ref))

  ;; Passes an address that is none.
  (func (export "astray") (call $lookup (i32.const -8) (i32.const 16) (i32.const 0)))
  (func (export "astray_answer") (call $lookup (i32.const 0) (i32.const 0) (i32.const -2))))
