;; Recipe (Binaryen 132), in this folder:
;; wasm-as --enable-reference-types --enable-gc --enable-exception-handling fiber.wat -o fiber.wasm
;;
;; The job of a guest's own fibers (src/proposals/jumps.ts), as the thunks of package stubs are the jobs of calls of
;; exports. There is one instance for each guest that has such fibers. The job is given a fiber and calls its function
;; through the guest's table, so that no frame of JavaScript stands below it. It lets no exception out.
(module
  (type $body (func (param i32 i32 i32) (result i32)))
  (type $raise (func (param i32)))
  (type $admits (func (param i32 i32) (result i32)))

  (import "guest" "table" (table $table 0 funcref))
  (import "guest" "sp" (global $sp (mut i32))) ;; unused if the guest has no stack in memory
  (import "js" "base" (global $base i32))
  (import "worker" "exn" (global $exn (mut exnref)))
  ;; A fiber's words: 0 its own reference, 1 what it was made with, 2 its first event, 3 its function. The first event
  ;; lies at the top of the fiber's region, so the stack begins there.
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
