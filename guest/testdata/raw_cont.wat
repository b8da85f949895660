;; The operations of cont as exports, so that a test can call them with any numbers. The table: 0 null, 1 a body that
;; returns nothing, 2 a function of another type, 3 a body that may throw and returns, 4 a body that traps, 5 a body
;; that traps, 6 a filter that uses the system, 7 a body that raises the event at 1024.
(module
  (import "fiberfill/cont" "event" (func $event (param i32 i32) (result i32)))
  (import "fiberfill/cont" "table" (func $table (param i32 i32) (result i32)))
  (import "fiberfill/cont" "new" (func $new (param i32 i32 i32 i32 i32)))
  (import "fiberfill/cont" "resume" (func $resume (param i32 i32 i32 i32) (result i32)))
  (import "fiberfill/cont" "suspend" (func $suspend (param i32)))
  (import "fiberfill/cont" "br_on_evt" (func $br_on_evt (param i32 i32) (result i32)))
  (import "fiberfill/cont" "forward" (func $forward (param i32 i32 i32 i32) (result i32)))
  (import "fiberfill/cont" "throw" (func $throw (param i32 i32 i32)))

  (memory (export "memory") 1 4)
  (table (export "functions") 8 funcref)
  (elem (i32.const 1) func $body $other $function $trapping $trap $filter $suspending)

  (func $body (param i32 i32 i32) (result i32) (i32.const 0))
  (func $other (result i64) (i64.const 0))
  (func $function (param i32))
  (func $trapping (param i32) (unreachable))
  (func $trap (param i32 i32 i32) (result i32) (unreachable))
  (func $suspending (param i32 i32 i32) (result i32) (call $suspend (i32.const 1024)) (i32.const 0))
  (func $filter (param i32 i32) (result i32) (call $table (i32.const 0) (i32.const 0)))

  (export "event" (func $event))
  (export "table" (func $table))
  (export "new" (func $new))
  (export "resume" (func $resume))
  (export "suspend" (func $suspend))
  (export "br_on_evt" (func $br_on_evt))
  (export "forward" (func $forward))
  (export "throw" (func $throw)))
