;; Fiber 0 sleeps, and then never waits again. The others return.
(module
  (import "env" "log" (func $log (param i32 i32)))
  (import "fiberfill" "sleep_ms" (func $sleep_ms (param i32)))
  (memory (export "memory") 3)
  (global $stack (export "__stack_pointer") (mut i32) (i32.const 65536))
  (func (export "spin") (param $i i32) (result i32)
    (if (i32.eqz (local.get $i))
      (then
        (call $sleep_ms (i32.const 1))
        (call $log (i32.const 1) (i32.const 1))
        (loop $forever (br $forever))))
    (local.get $i)))
