;; A fiber that ends the process, and an allocator that uses the system, which an allocator must not do.
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (import "fiberfill/fibers1" "spawn" (func $spawn (param i32 i32 i32 i32 i32) (result i32)))
  (import "fiberfill/fibers1" "tag" (func $tag (param i32) (result i32)))

  (memory (export "memory") 8)
  (table (export "functions") 3 funcref)
  (elem (i32.const 1) func $exiting $body)
  (global $wrong (mut i32) (i32.const 0))
  (global $next (mut i32) (i32.const 4096))

  (func $exiting (param i32 i32 i32) (result i32) (call $proc_exit (i32.const 7)) (i32.const 0))
  (func $body (param i32 i32 i32) (result i32) (i32.const 0))

  (func (export "exit")
    (drop (call $spawn (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 1024) (i32.const 0))))

  (func (export "wrong") (result i32)
    (global.set $wrong (i32.const 1))
    (call $spawn (i32.const 0) (i32.const 2) (i32.const 0) (i32.const 1024) (i32.const 0)))

  (func (export "malloc") (param i32) (result i32)
    (if (global.get $wrong) (then (drop (call $tag (i32.const 0)))))
    (global.get $next)
    (global.set $next (i32.add (global.get $next) (local.get 0))))

  (func (export "free") (param i32)))
