;; Recipe (Binaryen 132), in this folder:
;;   wasm-as --enable-reference-types --enable-gc --enable-bulk-memory yield.wat -o yield.wasm
;;
;; An import that yields, on stacks of our own: its two halves (src/lower/waits.ts), which ask the scheduler who is next
;; without JavaScript. What they do is written down, and JavaScript is told before any of its code runs
;; (src/substrate/yields.ts; cells.ts says what lies where in the memory). There is an instance for each such import.
(module
  (type $tell (func))
  (import "fiber" "memory" (memory 1))
  (import "fiber" "told" (global $told (mut (ref null $tell))))
  (import "core" "yield" (func $yield (param $now f64) (result i32)))
  (import "js" "now" (func $now (result f64)))
  ;; Whether the fiber that runs may yield here by this import, the number of which it is given, without JavaScript.
  (import "js" "may" (func $may (param $import i32) (result i32)))
  ;; Whether a fiber waits that JavaScript has let wait, with nothing to be done when it goes on.
  (import "js" "idle" (func $idle (param $fiber i32) (result i32)))
  (import "js" "tell" (func $js_tell))
  ;; Behind barriers: the halves as JavaScript has them, and obeying a command of the scheduler.
  (import "js" "begin" (func $begin (result i32)))
  (import "js" "end" (func $end))
  (import "js" "obey" (func $obey (param $command i32)))
  (import "js" "import" (global $import i32))

  (elem declare func $tell_it)
  (func $tell_it
    (global.set $told (ref.null $tell))
    (call $js_tell))

  (func (export "begin") (result i32)
    (local $own i32) (local $next i32) (local $command i32)
    (local.set $own (i32.load (i32.const 16)))
    (if (i32.or (i32.eqz (local.get $own)) (i32.ne (i32.load offset=4 (local.get $own)) (global.get $import))) (then
      (if (i32.eqz (call $may (global.get $import))) (then (return (call $begin))))
      (local.set $own (i32.load (i32.const 16)))
      (global.set $told (ref.func $tell_it))))
    ;; The same as JavaScript's half: the fiber goes to the end of the queue, and the core names the next.
    (i32.store (i32.const 24) (i32.const 1))
    (i32.store (i32.const 32) (i32.sub (i32.load (i32.const 32)) (i32.const 1)))
    (if (i32.le_s (i32.load (i32.const 32)) (i32.const 0)) (then (f64.store (i32.const 40) (call $now))))
    (local.set $command (call $yield (f64.load (i32.const 40))))
    (i32.store (i32.const 24) (i32.const 0))
    (i32.store offset=8 (local.get $own) (i32.add (i32.load offset=8 (local.get $own)) (i32.const 1)))
    (i32.store offset=12 (local.get $own) (i32.const 1))
    (if (i32.eqz (i32.load offset=16 (local.get $own))) (then ;; to the list of news
      (i32.store offset=16 (local.get $own) (i32.load (i32.const 20)))
      (i32.store (i32.const 20) (local.get $own))))
    ;; 0 and -1 name no fiber, and no fiber has the last place
    (local.set $next (i32.and (local.get $command) (i32.const 0x3fffff)))
    (local.set $next (i32.add (i32.const 64) (i32.shl (local.get $next) (i32.const 5))))
    (block $unknown
      (br_if $unknown (i32.ge_u (local.get $next) (i32.shl (memory.size) (i32.const 16))))
      (br_if $unknown (i32.eqz (i32.load (local.get $next))))
      (if (i32.eqz (i32.load offset=12 (local.get $next))) (then
        (br_if $unknown (i32.eqz (call $idle (local.get $command))))))
      (i32.store offset=12 (local.get $next) (i32.const 0))
      (i32.store (i32.const 16) (local.get $next))
      (i32.store (i32.const 0) (i32.sub (i32.load (local.get $next)) (i32.const 1)))
      (return (i32.const 1)))
    (call $obey (local.get $command))
    (i32.const 1))

  (func (export "end")
    (if (i32.load (i32.const 8)) (then (call $end)))))
