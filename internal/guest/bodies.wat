;; What stands at the bottom of a fiber's stack, and calls functions of the guest by their places in its table.
;;
;; A host function of the runtime cannot hold an exception, and a call that it makes cannot let one through. So what leaves a
;; function is caught here and put down in a global, and the last result is not 0; fibers1.wat and its like throw it on, the
;; same exception, where the parent waits.
(module $fiberfill
  (type $body (func (param i32 i32 i32) (result i32)))
  (type $function (func (param i32)))
  (type $filter (func (param i32 i32) (result i32)))

  (import "fiberfill:caught" "caught" (global $caught (mut exnref)))
  (import "fiberfill:guest" "fiberfill:table" (table $table 0 funcref))

  (func $body (export "body") (param $at i32) (param $self i32) (param $env i32) (param $event i32) (result i32 i32)
    (block $thrown (result exnref)
      (try_table (catch_all_ref $thrown)
        (return
          (call_indirect $table (type $body) (local.get $self) (local.get $env) (local.get $event) (local.get $at))
          (i32.const 0)))
      (unreachable))
    (global.set $caught)
    (i32.const 0)
    (i32.const 1))

  (func $call (export "call") (param $at i32) (param $env i32) (result i32)
    (block $thrown (result exnref)
      (try_table (catch_all_ref $thrown)
        (call_indirect $table (type $function) (local.get $env) (local.get $at))
        (return (i32.const 0)))
      (unreachable))
    (global.set $caught)
    (i32.const 1))

  (func $admits (export "admits") (param $at i32) (param $env i32) (param $event i32) (result i32 i32)
    (block $thrown (result exnref)
      (try_table (catch_all_ref $thrown)
        (return
          (call_indirect $table (type $filter) (local.get $env) (local.get $event) (local.get $at))
          (i32.const 0)))
      (unreachable))
    (global.set $caught)
    (i32.const 0)
    (i32.const 1)))
