;; An actor that catches every exception of a wait and goes on. On a message of type 1 it sleeps, on any other it calls
;; env.twice.
(module
  (import "env" "mk_send" (func $send (param i64 i32 i32 i32) (result i32)))
  (import "env" "mk_log" (func $log (param i32 i32 i32)))
  (import "env" "mk_sleep_ms" (func $sleep (param i32) (result i32)))
  (import "env" "twice" (func $twice (param i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "handle_message") (param $type i32) (param $source i64) (param i32 i32) (result i32)
    (block $caught
      (try_table (catch_all $caught)
        (if (i32.eq (local.get $type) (i32.const 1))
          (then (drop (call $sleep (i32.const 10))))
          (else (drop (call $twice (local.get $type)))))))
    (call $log (i32.const 0) (i32.const 0) (i32.const 0))
    (drop (call $send (local.get $source) (i32.const 2) (i32.const 0) (i32.const 0)))
    (i32.const 1)))
