;; The operations of cont. See fibers1.wat.
(module $fiberfill
  (import "fiberfill:caught" "caught" (global $caught (mut exnref)))
  (import "fiberfill:host" "event" (func $event (param i32 i32) (result i32)))
  (import "fiberfill:host" "table" (func $table (param i32 i32) (result i32)))
  (import "fiberfill:host" "new" (func $new (param i32 i32 i32 i32 i32)))
  (import "fiberfill:host" "resume" (func $resume (param i32 i32 i32 i32) (result i32 i32)))
  (import "fiberfill:host" "suspend" (func $suspend (param i32) (result i32)))
  (import "fiberfill:host" "br_on_evt" (func $br_on_evt (param i32 i32) (result i32)))
  (import "fiberfill:host" "forward" (func $forward (param i32 i32 i32 i32) (result i32 i32)))
  (import "fiberfill:host" "throw" (func $throw (param i32 i32 i32) (result i32)))

  (func $resume_or_throw (export "resume") (param i32 i32 i32 i32) (result i32)
    (call $resume (local.get 0) (local.get 1) (local.get 2) (local.get 3))
    (if (then (throw_ref (global.get $caught)))))

  (func $suspend_or_throw (export "suspend") (param i32)
    (call $suspend (local.get 0))
    (if (then (throw_ref (global.get $caught)))))

  (func $forward_or_throw (export "forward") (param i32 i32 i32 i32) (result i32)
    (call $forward (local.get 0) (local.get 1) (local.get 2) (local.get 3))
    (if (then (throw_ref (global.get $caught)))))

  (func $throw_or_throw (export "throw") (param i32 i32 i32)
    (call $throw (local.get 0) (local.get 1) (local.get 2))
    (if (then (throw_ref (global.get $caught)))))

  (export "event" (func $event))
  (export "table" (func $table))
  (export "new" (func $new))
  (export "br_on_evt" (func $br_on_evt)))
