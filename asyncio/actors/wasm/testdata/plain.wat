;; An actor without memory. It imports a function that the host does not have by default.
(module
  (import "env" "twice" (func $twice (param i32) (result i32)))
  (import "env" "mk_send" (func $send (param i64 i32 i32 i32) (result i32)))
  (func (export "handle_message") (param $type i32) (param $source i64) (param i32 i32) (result i32)
    (drop (call $send (local.get $source) (call $twice (local.get $type)) (i32.const 0) (i32.const 0)))
    (i32.const 1)))
