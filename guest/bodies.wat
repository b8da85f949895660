;; The frames at the bottom of a fiber's stack. They call functions of the guest by their places in its table.
;;
;; A host function of the runtime cannot hold an exception, and an exception cannot pass through a call that it makes.
;; So these frames catch what leaves a function of the guest, store it in a global and return a last result other than
;; 0. fibers1.wat and its like throw the same exception again where the parent waits.
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
