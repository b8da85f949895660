;; Filters that are functions (cont). A continuation raises an event and catches the outcome. answered(f) returns that
;; outcome with the function at place f of the table as the filter. The table: 1 the continuation, 2 a filter that
;; throws 5, 3 one that waits, 4 one that traps, 5 one that admits everything, 6 one that admits even numbers, 7 a
;; continuation that raises numbers, 8 a continuation that forwards them.
(module
  (import "fiberfill/cont" "event" (func $event (param i32 i32) (result i32)))
  (import "fiberfill/cont" "table" (func $table (param i32 i32) (result i32)))
  (import "fiberfill/cont" "new" (func $new (param i32 i32 i32 i32 i32)))
  (import "fiberfill/cont" "resume" (func $resume (param i32 i32 i32 i32) (result i32)))
  (import "fiberfill/cont" "suspend" (func $suspend (param i32)))
  (import "fiberfill/cont" "forward" (func $forward (param i32 i32 i32 i32) (result i32)))
  (import "fiberfill" "sleep_ms" (func $sleep (param i32)))

  (memory (export "memory") 1)
  (table (export "functions") 9 funcref)
  (elem (i32.const 1) func $asking $throwing $waiting $trapping $admitting $even $numbers $forwarding)
  (tag $number (param i32))

  ;; Raises the event at 1024, whose tag is env. Returns the number that it catches.
  (func $asking (param $self i32) (param $tag i32) (param $e i32) (result i32)
    (i32.store offset=24 (local.get $e)
      (block $caught (result i32)
        (try_table (catch $number $caught)
          (i32.store (i32.const 1028) (local.get $tag))
          (call $suspend (i32.const 1024)))
        (i32.const 1)))
    (i32.const 1))

  (func $throwing (param i32 i32) (result i32) (throw $number (i32.const 5)))
  (func $waiting (param i32 i32) (result i32) (call $sleep (i32.const 0)) (i32.const 1))
  (func $trapping (param i32 i32) (result i32) (unreachable))
  (func $admitting (param i32 i32) (result i32) (i32.const 1))

  ;; Resumes until the continuation returns.
  (func (export "answered") (param $filter i32) (result i32)
    (local $table i32)
    (i32.store (i32.const 512) (call $event (i32.const 0) (i32.const 0)))
    (local.set $table (call $table (i32.const 512) (i32.const 1)))
    (call $new (i32.const 0) (i32.const 1) (i32.const 1) (i32.load (i32.const 512)) (i32.const 2048))
    (loop $again
      (br_if $again (i32.ne (i32.const -1)
        (call $resume (i32.const 2048) (local.get $table) (local.get $filter) (i32.const 0)))))
    (i32.load offset=24 (i32.const 2048)))

  ;; What happened, a digit each: 1 a number reached the forwarder, 2 a number reached the entry, 3 the filter was
  ;; asked.
  (global $trail (mut i32) (i32.const 0))
  (func $note (param $what i32)
    (global.set $trail (i32.add (i32.mul (global.get $trail) (i32.const 10)) (local.get $what))))

  (func $even (param $env i32) (param $e i32) (result i32)
    (call $note (i32.const 3))
    (i32.eqz (i32.and (i32.load offset=24 (local.get $e)) (i32.const 1))))

  ;; Raises 0, 1 and 2.
  (func $numbers (param $self i32) (param $env i32) (param $e i32) (result i32)
    (local $n i32)
    (loop $again
      (i32.store (i32.const 1028) (global.get $tag))
      (i32.store (i32.const 1032) (i32.const 1))
      (i32.store (i32.const 1048) (local.get $n))
      (call $suspend (i32.const 1024))
      (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 3))))
    (i32.const 0))

  ;; Forwards the numbers, with a filter if env is 0. Otherwise it makes them even and forwards them without a filter.
  (func $forwarding (param $self i32) (param $env i32) (param $e i32) (result i32)
    (local $label i32)
    (call $new (i32.const 0) (i32.const 0) (i32.const 7) (i32.const 0) (i32.const 3072))
    (local.set $label (call $resume (i32.const 3072) (global.get $table) (i32.const 0) (i32.const 0)))
    (loop $again
      (if (i32.ne (local.get $label) (i32.const -1)) (then
        (call $note (i32.const 1))
        (if (local.get $env) (then (i32.store (i32.const 3096) (i32.const 4))))
        (local.set $label (call $forward (i32.const 3072) (global.get $table)
          (select (i32.const 0) (i32.const 6) (local.get $env)) (i32.const 0)))
        (br $again))))
    (i32.const 0))

  (global $tag (mut i32) (i32.const 0))
  (global $table (mut i32) (i32.const 0))
  ;; The entry has the filter if the forward has none.
  (func (export "forwarded") (param $even i32) (result i32)
    (global.set $tag (call $event (i32.const 1) (i32.const 0)))
    (i32.store (i32.const 512) (global.get $tag))
    (global.set $table (call $table (i32.const 512) (i32.const 1)))
    (call $new (i32.const 0) (i32.const 0) (i32.const 8) (local.get $even) (i32.const 2048))
    (loop $again
      (if (i32.ne (i32.const -1) (call $resume (i32.const 2048) (global.get $table)
          (select (i32.const 6) (i32.const 0) (local.get $even)) (i32.const 0))) (then
        (call $note (i32.const 2))
        (i32.store (i32.const 2056) (i32.const 0)) ;; the answer has no values
        (br $again))))
    (global.get $trail)))
