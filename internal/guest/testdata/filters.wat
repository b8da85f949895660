;; Filters that do not choose (system D). A continuation raises an event and catches what comes of it: answered(f) is what, with
;; the function at place f of the table as the filter. The table: 1 the continuation, 2 a filter that throws 5, 3 one that
;; waits, 4 one that traps, 5 one that admits everything.
(module
  (import "fiberfill/cont" "event" (func $event (param i32 i32) (result i32)))
  (import "fiberfill/cont" "table" (func $table (param i32 i32) (result i32)))
  (import "fiberfill/cont" "new" (func $new (param i32 i32 i32 i32 i32)))
  (import "fiberfill/cont" "resume" (func $resume (param i32 i32 i32 i32) (result i32)))
  (import "fiberfill/cont" "suspend" (func $suspend (param i32)))
  (import "fiberfill" "sleep_ms" (func $sleep (param i32)))

  (memory (export "memory") 1)
  (table (export "functions") 6 funcref)
  (elem (i32.const 1) func $asking $throwing $waiting $trapping $admitting)
  (tag $number (param i32))

  ;; The event at 1024, of the tag that env is. Returns the number that it catches.
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
    (i32.load offset=24 (i32.const 2048))))
