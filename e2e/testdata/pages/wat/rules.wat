;; The guest of the rule tests: one function for each way that an export can use its imports. ../../README.md says how
;; to assemble it.
(module
  (import "env" "wait" (func $wait (param i32) (result i32)))              ;; may wait
  (import "env" "wait_i64" (func $wait_i64 (param i64) (result i64)))      ;; may wait
  (import "env" "wait_f32" (func $wait_f32 (param f32) (result f32)))      ;; may wait
  (import "env" "wait_f64" (func $wait_f64 (param f64) (result f64)))      ;; may wait
  (import "env" "wait_ref" (func $wait_ref (param externref) (result externref))) ;; may wait
  (import "env" "wait_all" (func $wait_all (param i32 i64 f32 f64 externref) (result i32))) ;; may wait
  (import "env" "direct" (func $direct (param i32) (result i32)))          ;; never waits
  (import "fiberfill" "yield" (func $yield))
  (import "fiberfill" "sleep_ms" (func $sleep (param i32)))

  (tag $oops (export "oops") (param i32))

  ;; --- without a wait
  (func (export "nothing"))
  (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
  (func (export "pair") (param i32 f64) (result f64 i32) (local.get 1) (local.get 0))
  (func (export "i32") (param i32) (result i32) (local.get 0))
  (func (export "i64") (param i64) (result i64) (local.get 0))
  (func (export "f32") (param f32) (result f32) (local.get 0))
  (func (export "f64") (param f64) (result f64) (local.get 0))
  (func (export "ref") (param externref) (result externref) (local.get 0))
  (func (export "ask") (param i32) (result i32) (call $direct (local.get 0)))
  (func (export "trap") (unreachable))
  (func $endless (export "endless") (param i32) (result i32)
    (i32.add (local.get 0) (call $endless (i32.add (local.get 0) (i32.const 1)))))
  (func (export "throw") (param i32) (throw $oops (local.get 0)))

  ;; --- with one
  (func (export "wait") (param i32) (result i32) (call $wait (local.get 0)))
  (func (export "wait_i64") (param i64) (result i64) (call $wait_i64 (local.get 0)))
  (func (export "wait_f32") (param f32) (result f32) (call $wait_f32 (local.get 0)))
  (func (export "wait_f64") (param f64) (result f64) (call $wait_f64 (local.get 0)))
  (func (export "wait_ref") (param externref) (result externref) (call $wait_ref (local.get 0)))
  (func (export "wait_all") (param i32 i64 f32 f64 externref) (result i32)
    (call $wait_all (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4)))
  (func (export "wait_then_trap") (param i32) (drop (call $wait (local.get 0))) (unreachable))
  (func (export "wait_then_throw") (param i32) (throw $oops (call $wait (local.get 0))))

  ;; Passes the result of the wait to $direct, so that the page sees what a fiber does between its waits.
  (func (export "wait_then_ask") (param i32) (result i32) (call $direct (call $wait (local.get 0))))

  ;; Waits at the bottom of depth frames. Each frame adds something on the way back.
  (func $nest (export "nest") (param $depth i32) (param $x i32) (result i32)
    (if (result i32) (local.get $depth)
      (then (i32.add (local.get $depth) (call $nest (i32.sub (local.get $depth) (i32.const 1)) (local.get $x))))
      (else (call $wait (local.get $x)))))

  ;; Waits and, if the wait throws, returns -1.
  (func (export "catch") (param i32) (result i32)
    (block $caught
      (try_table (catch_all $caught) (return (call $wait (local.get 0)))))
    (i32.const -1))

  ;; Waits and rethrows an exception by reference, as a compiler's cleanup does.
  (func (export "rethrow") (param i32) (result i32)
    (throw_ref
      (block $caught (result exnref)
        (try_table (catch_all_ref $caught) (return (call $wait (local.get 0))))
        (unreachable))))

  ;; --- with many
  ;; The sum of count waits in a row, for x, x+1, ...
  (func (export "waits") (param $x i32) (param $count i32) (result i32)
    (local $sum i32)
    (loop $next
      (local.set $sum (i32.add (local.get $sum) (call $wait (local.get $x))))
      (local.set $x (i32.add (local.get $x) (i32.const 1)))
      (br_if $next (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))
    (local.get $sum))

  ;; Waits for x, x+1, ... until a wait returns, and ignores up to count exceptions. Returns the number of exceptions; a
  ;; further one passes.
  (func (export "stubborn") (param $x i32) (param $count i32) (result i32)
    (local $caught i32)
    (loop $next
      (block $failed
        (try_table (catch_all $failed)
          (drop (call $wait (local.get $x)))
          (return (local.get $caught))))
      (local.set $x (i32.add (local.get $x) (i32.const 1)))
      (br_if $next (i32.lt_u (local.tee $caught (i32.add (local.get $caught) (i32.const 1))) (local.get $count))))
    (call $wait (local.get $x)))

  ;; A green thread: yields until $direct returns 0. Returns x.
  (func (export "thread") (param $x i32) (result i32)
    (loop $next
      (if (call $direct (local.get $x)) (then (call $yield) (br $next))))
    (local.get $x))

  (func (export "sleep") (param i32) (result i32) (call $sleep (local.get 0)) (local.get 0)))
