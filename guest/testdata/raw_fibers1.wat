;; The operations of fibers1 as exports, so that a test can call them with any numbers. The table: 0 null, 1 a body that
;; returns nothing, 2 a function of another type, 3 a body that may throw and returns, 4 a body that traps, 5 a
;; body that traps.
(module
  (import "fiberfill/fibers1" "tag" (func $tag (param i32) (result i32)))
  (import "fiberfill/fibers1" "table" (func $table (param i32 i32) (result i32)))
  (import "fiberfill/fibers1" "block" (func $block (param i32 i32)))
  (import "fiberfill/fibers1" "new" (func $new (param i32 i32 i32 i32) (result i32)))
  (import "fiberfill/fibers1" "spawn" (func $spawn (param i32 i32 i32 i32 i32) (result i32)))
  (import "fiberfill/fibers1" "suspend" (func $suspend (param i32 i32 i32) (result i32)))
  (import "fiberfill/fibers1" "resume" (func $resume (param i32 i32 i32) (result i32)))
  (import "fiberfill/fibers1" "switch" (func $switch (param i32 i32 i32 i32) (result i32)))
  (import "fiberfill/fibers1" "retire" (func $retire (param i32 i32)))
  (import "fiberfill/fibers1" "retireto" (func $retireto (param i32 i32 i32)))
  (import "fiberfill/fibers1" "release" (func $release (param i32)))

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
  (export "block" (func $block))
  (export "new" (func $new))
  (export "spawn" (func $spawn))
  (export "suspend" (func $suspend))
  (export "resume" (func $resume))
  (export "switch" (func $switch))
  (export "retire" (func $retire))
  (export "retireto" (func $retireto))
  (export "release" (func $release)))
