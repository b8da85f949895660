;; The operations of fibers2 as exports, so that a test can call them with any numbers. The table: 0 null, 1 a body that
;; returns nothing, 2 a function of another type, 3 a body that may throw and returns, 4 a body that traps, 5 a
;; body that traps.
(module
  (import "fiberfill/fibers2" "tag" (func $tag (param i32) (result i32)))
  (import "fiberfill/fibers2" "table" (func $table (param i32 i32) (result i32)))
  (import "fiberfill/fibers2" "new" (func $new (param i32 i32 i32 i32) (result i32)))
  (import "fiberfill/fibers2" "mount" (func $mount (param i32 i32 i32) (result i32)))
  (import "fiberfill/fibers2" "switch" (func $switch (param i32 i32 i32 i32) (result i32)))
  (import "fiberfill/fibers2" "dismount" (func $dismount (param i32 i32 i32) (result i32)))
  (import "fiberfill/fibers2" "release" (func $release (param i32)))
  (import "fiberfill/fibers2" "mount_new" (func $mount_new (param i32 i32 i32 i32) (result i32)))
  (import "fiberfill/fibers2" "switch_new" (func $switch_new (param i32 i32 i32 i32 i32) (result i32)))
  (import "fiberfill/fibers2" "dismount_release" (func $dismount_release (param i32 i32) (result i32)))
  (import "fiberfill/fibers2" "switch_release" (func $switch_release (param i32 i32 i32) (result i32)))

  (memory (export "memory") 1 4)
  (table (export "functions") 8 funcref)
  (elem (i32.const 1) func $body $other $function $trapping $trap)

  (func $body (param i32 i32 i32) (result i32) (i32.const 0))
  (func $other (result i64) (i64.const 0))
  (func $function (param i32))
  (func $trapping (param i32) (unreachable))
  (func $trap (param i32 i32 i32) (result i32) (unreachable))

  (export "tag" (func $tag))
  (export "table" (func $table))
  (export "new" (func $new))
  (export "mount" (func $mount))
  (export "switch" (func $switch))
  (export "dismount" (func $dismount))
  (export "release" (func $release))
  (export "mount_new" (func $mount_new))
  (export "switch_new" (func $switch_new))
  (export "dismount_release" (func $dismount_release))
  (export "switch_release" (func $switch_release)))
