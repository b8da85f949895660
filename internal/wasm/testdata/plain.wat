;; Recipe (Binaryen 132), in this folder:
;;   wasm-as --enable-mutable-globals --enable-multivalue -g plain.wat -o plain.wasm
;;
;; A guest with numbers only, so that wazero runs it, too. Its first mutable i32 is not the stack pointer: only the
;; names (-g) tell which global is.
(module
  (import "env" "now" (func $now (result f64)))
  (import "env" "wait" (func $wait (param i32 i64) (result i32 f64)))
  (memory (export "memory") 1)
  (global $count (mut i32) (i32.const 64))
  (global $__stack_pointer (mut i32) (i32.const 1024))
  (func (export "both") (param i32 i64) (result i32 f64)
    (global.set $count (i32.add (global.get $count) (i32.const 1)))
    (global.set $__stack_pointer (global.get $__stack_pointer))
    (drop (call $now))
    (call $wait (local.get 0) (local.get 1))))
