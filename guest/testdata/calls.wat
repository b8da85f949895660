;; What bench_test.go runs: n calls of an import of each kind.
(module
  (import "host" "add" (func $add (param i32 i32) (result i32)))
  (import "host" "text" (func $text (param i32 i32)))
  (import "host" "wait" (func $wait (param i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "some text")

  (func (export "add") (param $n i32)
    (loop $again
      (drop (call $add (local.get $n) (i32.const 1)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))

  (func (export "text") (param $n i32)
    (loop $again
      (call $text (i32.const 16) (i32.const 9))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))

  (func (export "wait") (param $n i32)
    (loop $again
      (drop (call $wait (local.get $n)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
)
