;; Recipe (Binaryen 132), in this folder:
;;   wasm-as --enable-mutable-globals --enable-reference-types --enable-gc --enable-exception-handling --enable-multivalue fiber.wat -o fiber.wasm
;;
;; The job of a guest's own fibers (src/proposals/jumps.ts): what package stubs' thunks are for the calls of exports. One instance for
;; each guest that has such fibers. It is given the fiber, calls that one's function through the guest's table, so that no
;; frame of JavaScript stands below it, and lets no exception out.
(module
  (type $body (func (param i32 i32 i32) (result i32)))
  (type $raise (func (param i32)))
  (type $admits (func (param i32 i32) (result i32)))

  (import "guest" "table" (table $table 0 funcref))
  (import "guest" "sp" (global $sp (mut i32))) ;; one that nobody reads, if the guest has no stack in memory
  (import "js" "base" (global $base i32))
  (import "worker" "exn" (global $exn (mut exnref)))
  ;; Of the fiber: 0 its own reference, 1 what it was made with, 2 its first event, which lies at the top of its region, so that
  ;; its stack begins there, 3 its function.
  (import "js" "arg" (func $arg (param externref i32) (result i32)))
  (import "js" "returned" (func $returned (param externref i32)))
  (import "js" "failed" (func $failed (param externref)))

  (func (export "fiber") (param $fiber externref)
    (block $caught (result exnref)
      (try_table (catch_all_ref $caught)
        (global.set $sp (call $arg (local.get $fiber) (i32.const 2)))
        (call $returned
          (local.get $fiber)
          (call_indirect $table (type $body)
            (call $arg (local.get $fiber) (i32.const 0))
            (call $arg (local.get $fiber) (i32.const 1))
            (call $arg (local.get $fiber) (i32.const 2))
            (call $arg (local.get $fiber) (i32.const 3))))
        (global.set $sp (global.get $base))
        (return))
      (unreachable))
    (global.set $exn)
    (global.set $sp (global.get $base))
    (call $failed (local.get $fiber)))

  ;; What is at an index of the table: 0 nothing, 1 a body, 2 a raise, 3 an admits, 4 another function.
  (func (export "kind") (param $i i32) (result i32)
    (local $f funcref)
    (if (i32.ge_u (local.get $i) (table.size $table)) (then (return (i32.const 0))))
    (local.set $f (table.get $table (local.get $i)))
    (if (ref.is_null (local.get $f)) (then (return (i32.const 0))))
    (if (ref.test (ref $body) (local.get $f)) (then (return (i32.const 1))))
    (if (ref.test (ref $raise) (local.get $f)) (then (return (i32.const 2))))
    (if (ref.test (ref $admits) (local.get $f)) (then (return (i32.const 3))))
    (i32.const 4)))
