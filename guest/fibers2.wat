;; The operations of fibers2. See fibers1.wat.
(module $fiberfill
  (import "fiberfill:caught" "caught" (global $caught (mut exnref)))
  (import "fiberfill:host" "tag" (func $tag (param i32) (result i32)))
  (import "fiberfill:host" "table" (func $table (param i32 i32) (result i32)))
  (import "fiberfill:host" "new" (func $new (param i32 i32 i32 i32) (result i32)))
  (import "fiberfill:host" "mount" (func $mount (param i32 i32 i32) (result i32 i32)))
  (import "fiberfill:host" "switch" (func $switch (param i32 i32 i32 i32) (result i32 i32)))
  (import "fiberfill:host" "dismount" (func $dismount (param i32 i32 i32) (result i32 i32)))
  (import "fiberfill:host" "release" (func $release (param i32)))
  (import "fiberfill:host" "mount_new" (func $mount_new (param i32 i32 i32 i32) (result i32 i32)))
  (import "fiberfill:host" "switch_new" (func $switch_new (param i32 i32 i32 i32 i32) (result i32 i32)))
  (import "fiberfill:host" "dismount_release" (func $dismount_release (param i32 i32) (result i32)))
  (import "fiberfill:host" "switch_release" (func $switch_release (param i32 i32 i32) (result i32)))

  (func $mount_or_throw (export "mount") (param i32 i32 i32) (result i32)
    (call $mount (local.get 0) (local.get 1) (local.get 2))
    (if (then (throw_ref (global.get $caught)))))

  (func $switch_or_throw (export "switch") (param i32 i32 i32 i32) (result i32)
    (call $switch (local.get 0) (local.get 1) (local.get 2) (local.get 3))
    (if (then (throw_ref (global.get $caught)))))

  (func $dismount_or_throw (export "dismount") (param i32 i32 i32) (result i32)
    (call $dismount (local.get 0) (local.get 1) (local.get 2))
    (if (then (throw_ref (global.get $caught)))))

  (func $mount_new_or_throw (export "mount_new") (param i32 i32 i32 i32) (result i32)
    (call $mount_new (local.get 0) (local.get 1) (local.get 2) (local.get 3))
    (if (then (throw_ref (global.get $caught)))))

  (func $switch_new_or_throw (export "switch_new") (param i32 i32 i32 i32 i32) (result i32)
    (call $switch_new (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4))
    (if (then (throw_ref (global.get $caught)))))

  (export "tag" (func $tag))
  (export "table" (func $table))
  (export "new" (func $new))
  (export "release" (func $release))
  (export "dismount_release" (func $dismount_release))
  (export "switch_release" (func $switch_release)))
