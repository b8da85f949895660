;; The operations of fibers1, as a guest imports them. The host performs them. An exception for the fiber that waits in
;; an operation is thrown here. See bodies.wat.
(module $fiberfill
  (import "fiberfill:caught" "caught" (global $caught (mut exnref)))
  (import "fiberfill:host" "tag" (func $tag (param i32) (result i32)))
  (import "fiberfill:host" "table" (func $table (param i32 i32) (result i32)))
  (import "fiberfill:host" "block" (func $block (param i32 i32)))
  (import "fiberfill:host" "new" (func $new (param i32 i32 i32 i32) (result i32)))
  (import "fiberfill:host" "spawn" (func $spawn (param i32 i32 i32 i32 i32) (result i32 i32)))
  (import "fiberfill:host" "suspend" (func $suspend (param i32 i32 i32) (result i32 i32)))
  (import "fiberfill:host" "resume" (func $resume (param i32 i32 i32) (result i32 i32)))
  (import "fiberfill:host" "switch" (func $switch (param i32 i32 i32 i32) (result i32 i32)))
  (import "fiberfill:host" "retire" (func $retire (param i32 i32)))
  (import "fiberfill:host" "retireto" (func $retireto (param i32 i32 i32)))
  (import "fiberfill:host" "release" (func $release (param i32)))

  (func $spawn_or_throw (export "spawn") (param i32 i32 i32 i32 i32) (result i32)
    (call $spawn (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4))
    (if (then (throw_ref (global.get $caught)))))

  (func $suspend_or_throw (export "suspend") (param i32 i32 i32) (result i32)
    (call $suspend (local.get 0) (local.get 1) (local.get 2))
    (if (then (throw_ref (global.get $caught)))))

  (func $resume_or_throw (export "resume") (param i32 i32 i32) (result i32)
    (call $resume (local.get 0) (local.get 1) (local.get 2))
    (if (then (throw_ref (global.get $caught)))))

  (func $switch_or_throw (export "switch") (param i32 i32 i32 i32) (result i32)
    (call $switch (local.get 0) (local.get 1) (local.get 2) (local.get 3))
    (if (then (throw_ref (global.get $caught)))))

  (export "tag" (func $tag))
  (export "table" (func $table))
  (export "block" (func $block))
  (export "new" (func $new))
  (export "retire" (func $retire))
  (export "retireto" (func $retireto))
  (export "release" (func $release)))
