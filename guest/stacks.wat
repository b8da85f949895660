;; The operations of stacks, single-use stack references. See fibers1.wat.
(module $fiberfill
  (import "fiberfill:caught" "caught" (global $caught (mut exnref)))
  (import "fiberfill:host" "new" (func $new (param i32 i32 i32 i32 i32)))
  (import "fiberfill:host" "new_ref" (func $new_ref (param i32 i32 i32 i32 i32)))
  (import "fiberfill:host" "switch" (func $switch (param i32 i32 i32) (result i32)))
  (import "fiberfill:host" "switch_retire" (func $switch_retire (param i32)))
  (import "fiberfill:host" "switch_throw" (func $switch_throw (param i32 i32 i32 i32 i32) (result i32)))
  (import "fiberfill:host" "bind" (func $bind (param i32)))
  (import "fiberfill:host" "return_switch" (func $return_switch (param i32 i32 i32) (result i32)))
  (import "fiberfill:host" "return_switch_throw" (func $return_switch_throw (param i32 i32 i32 i32 i32) (result i32)))

  (func $switch_or_throw (export "switch") (param i32 i32 i32)
    (call $switch (local.get 0) (local.get 1) (local.get 2))
    (if (then (throw_ref (global.get $caught)))))

  (func $switch_throw_or_throw (export "switch_throw") (param i32 i32 i32 i32 i32)
    (call $switch_throw (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4))
    (if (then (throw_ref (global.get $caught)))))

  (func $return_switch_or_throw (export "return_switch") (param i32 i32 i32)
    (call $return_switch (local.get 0) (local.get 1) (local.get 2))
    (if (then (throw_ref (global.get $caught)))))

  (func $return_switch_throw_or_throw (export "return_switch_throw") (param i32 i32 i32 i32 i32)
    (call $return_switch_throw (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4))
    (if (then (throw_ref (global.get $caught)))))

  (export "new" (func $new))
  (export "new_ref" (func $new_ref))
  (export "switch_retire" (func $switch_retire))
  (export "bind" (func $bind)))
