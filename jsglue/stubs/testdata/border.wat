;; Recipe (Binaryen 132), in this folder:
;;   wasm-as -all --disable-compact-imports border.wat -o border.wasm
;;
;; The guest that border.mjs runs through generated modules A and B. Its types are hard to copy: two types that refer to
;; each other are a group, which is one entry and two indices.
(module
  (rec
    (type $node (struct (field (mut i32)) (field (ref null $node))))
    (type $visit (func (param (ref null $node)) (result i32))))
  (type $open (sub (func (param i32) (result i32))))

  (import "env" "direct" (func $direct (param i32) (result i32)))
  (import "env" "wait" (func $wait (param i32) (result i32)))
  (import "env" "wait_all" (func $wait_all
    (param i32 i64 f32 f64 externref) (result i32 i64 f32 f64 externref)))
  (import "env" "wait_node" (func $wait_node (type $visit)))
  (import "env" "wait_open" (func $wait_open (type $open)))
  (import "env" "wait_none" (func $wait_none))

  (memory (export "memory") 2)
  (global $fixed i32 (i32.const 7))
  (global $sp (mut i32) (i32.const 65536))

  (func (export "sp_now") (result i32) (global.get $sp))
  (func (export "nothing"))
  (func (export "all")
    (param i32 i64 f32 f64 externref) (result i32 i64 f32 f64 externref)
    (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4))
  (func (export "direct") (param i32) (result i32) (call $direct (local.get 0)))
  (func (export "wait_all")
    (param i32 i64 f32 f64 externref) (result i32 i64 f32 f64 externref)
    (call $wait_all (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4)))
  (func (export "wait_none") (call $wait_none))

  ;; Keeps a value on the shadow stack across two waits and returns it, as compiled code does with a local whose address
  ;; is taken.
  (func $keep (export "keep") (param $v i32) (result i32)
    (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
    (i32.store (local.get $frame) (local.get $v))
    (drop (call $wait (local.get $v)))
    (drop (call $wait (local.get $v)))
    ;; What counts is the pointer's value now, not the one of $frame.
    (local.set $v (i32.load (global.get $sp)))
    (global.set $sp (i32.add (global.get $sp) (i32.const 16)))
    (local.get $v))

  ;; Catches what wait throws and returns the stack pointer then, less its own frame: 0 if the stub has put it back.
  (func (export "catches") (param $v i32) (result i32)
    (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 32))))
    (block $caught
      (try_table (catch_all $caught) (drop (call $wait (local.get $v))))
      (return (i32.const -1)))
    (local.set $v (i32.sub (global.get $sp) (local.get $frame)))
    (global.set $sp (i32.add (local.get $frame) (i32.const 32)))
    (local.get $v))

  (func (export "trap") (unreachable))

  ;; The types that only exist in wasm: a struct goes out through a wait and comes back the same.
  (func (export "node") (param i32) (result i32)
    (local $n (ref null $node))
    (local.set $n (struct.new $node (local.get 0) (ref.null $node)))
    (drop (call $wait_node (local.get $n)))
    (struct.get $node 0 (local.get $n)))
  (func (export "open") (type $open) (call $wait_open (local.get 0)))

  ;; JavaScript has no v128; it may hold a struct without seeing into it.
  (func (export "vector") (param v128) (result v128) (local.get 0))
  (func (export "ref") (param (ref null $node)) (result (ref null $node)) (local.get 0)))
