;; forever() waits again whenever a wait has failed. switch(v) waits with its stack pointer far from where it began, as
;; a guest that Asyncify has unwound and rewound may.
(module
  (import "fiberfill" "yield" (func $yield))
  (memory (export "memory") 2)
  (global $__stack_pointer (mut i32) (i32.const 65536))
  (func (export "asyncify_start_unwind") (param i32))

  (func (export "forever")
    (loop $again
      (block $failed (try_table (catch_all $failed) (call $yield)))
      (br $again)))

  (func (export "switch") (param $v i32) (result i32) (local $old i32)
    (local.set $old (global.get $__stack_pointer))
    (global.set $__stack_pointer (i32.sub (i32.const 4096) (i32.const 16)))
    (i32.store (global.get $__stack_pointer) (local.get $v))
    (call $yield)
    (local.set $v (i32.load (global.get $__stack_pointer)))
    (global.set $__stack_pointer (local.get $old))
    (local.get $v)))
