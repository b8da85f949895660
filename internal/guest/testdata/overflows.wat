;; A fiber of v1 that writes below its region, as one does that has recursed too deeply, and traps.
(module
  (import "fiberfill/fibers1" "spawn" (func $spawn (param i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (table (export "functions") 1 funcref)
  (elem (i32.const 0) $body)
  (global $stack (export "__stack_pointer") (mut i32) (i32.const 65536))
  (func $body (param $self i32) (param $env i32) (param $event i32) (result i32)
    (global.set $stack (local.get $event))
    (local.set $env (i32.const 256))
    (loop $more
      (local.set $env (i32.sub (local.get $env) (i32.const 4)))
      (i32.store (i32.add (i32.sub (local.get $event) (i32.const 65536)) (local.get $env)) (i32.const 1))
      (br_if $more (local.get $env)))
    (unreachable))
  (func (export "go")
    (drop (call $spawn (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1024) (i32.const 0)))))
