;; The operations of stacks as exports, so that a test can call them with any numbers. The table: 0 null, 1 a body that
;; returns nothing, 2 a function of another type, 3 a body that may throw and returns, 4 a body that traps, 5 a
;; body that traps.
(module
  (import "fiberfill/stacks" "new" (func $new (param i32 i32 i32 i32 i32)))
  (import "fiberfill/stacks" "new_ref" (func $new_ref (param i32 i32 i32 i32 i32)))
  (import "fiberfill/stacks" "switch" (func $switch (param i32 i32 i32)))
  (import "fiberfill/stacks" "switch_retire" (func $switch_retire (param i32)))
  (import "fiberfill/stacks" "switch_throw" (func $switch_throw (param i32 i32 i32 i32 i32)))
  (import "fiberfill/stacks" "bind" (func $bind (param i32)))
  (import "fiberfill/stacks" "return_switch" (func $return_switch (param i32 i32 i32)))
  (import "fiberfill/stacks" "return_switch_throw" (func $return_switch_throw (param i32 i32 i32 i32 i32)))

  (memory (export "memory") 1 4)
  (table (export "functions") 8 funcref)
  (elem (i32.const 1) func $body $other $function $trapping $trap)

  (func $body (param i32 i32 i32) (result i32) (i32.const 0))
  (func $other (result i64) (i64.const 0))
  (func $function (param i32))
  (func $trapping (param i32) (unreachable))
  (func $trap (param i32 i32 i32) (result i32) (unreachable))

  (export "new" (func $new))
  (export "new_ref" (func $new_ref))
  (export "switch" (func $switch))
  (export "switch_retire" (func $switch_retire))
  (export "switch_throw" (func $switch_throw))
  (export "bind" (func $bind))
  (export "return_switch" (func $return_switch))
  (export "return_switch_throw" (func $return_switch_throw)))
