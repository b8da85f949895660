;; A library whose _initialize waits.
(module
  (import "env" "wait" (func $wait))
  (import "env" "plain" (func $plain (param i32) (result i32)))
  (memory (export "memory") 3)
  (global $stack (export "__stack_pointer") (mut i32) (i32.const 65536))
  (global $done (mut i32) (i32.const 0))
  (func (export "_initialize")
    (call $wait)
    (global.set $done (i32.const 1)))
  (func (export "done") (result i32) (global.get $done))
  (func (export "plain") (param i32) (result i32) (call $plain (local.get 0))))
