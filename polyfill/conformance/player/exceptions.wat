;; Throws and catches a number for the player, which is in C. clang 19 writes only the exception encoding that engines
;; are about to drop, so these two functions are text and are merged into the player.
(module
  (type $function (func (param i32)))
  (import "player" "__indirect_function_table" (table $table 0 funcref))
  (import "player" "__stack_pointer" (global $stack (mut i32)))
  (import "player" "memory" (memory 0))

  (tag $number (param i32))

  (func (export "throw") (param $n i32)
    (throw $number (local.get $n)))

  (func (export "try") (param $f i32) (param $env i32) (param $n i32) (result i32)
    (local $sp i32)
    (local.set $sp (global.get $stack))
    (block $caught (result i32)
      (try_table (catch $number $caught)
        (call_indirect $table (type $function) (local.get $env) (local.get $f)))
      (return (i32.const 0)))
    (local.set $env)
    (i32.store (local.get $n) (local.get $env))
    (global.set $stack (local.get $sp))
    (i32.const 1)))
