;; Recipe (Binaryen 132), in this folder:
;;   wasm-as --enable-reference-types --enable-gc --enable-bulk-memory --enable-exception-handling --enable-tail-call \
;;     --enable-stack-switching -g yield.wat -o yield.wasm
;;
;; An import that yields, on stacks of our own: a stub that asks the scheduler who is next without JavaScript. What it
;; does is written down, and JavaScript is told before any of its code runs (src/substrate/yields.ts; cells.ts says what
;; lies where in the memory). There is an instance for each such import. It is lowered: the fiber leaves its stack in
;; here, with one frame. Whatever is not usual is left to the stub that the import has otherwise (package jsglue/stubs).
(module $fiberfill.yield
  (type $tell (func))
  (type $wait (func))
  (import "host" "wait" (tag $wait (type $wait)))
  (import "fiber" "memory" (memory 1))
  (import "fiber" "told" (global $told (mut (ref null $tell))))
  ;; The other stub.
  (import "stub" "otherwise" (func $otherwise))
  ;; Of the guest: its stack pointer, where that rests, and where the running fiber's region begins, 0 if it has none.
  (import "stub" "sp" (global $sp (mut i32)))
  (import "stub" "rest" (global $rest (mut i32)))
  (import "stub" "low" (global $low (mut i32)))
  ;; Whether the guard of the region that begins here is untouched.
  (import "stub" "untouched" (func $untouched (param $low i32) (result i32)))
  (import "worker" "shared" (global $shared (mut i32)))
  (import "core" "yield" (func $yield (param $now f64) (result i32)))
  (import "js" "now" (func $now (result f64)))
  ;; Whether the fiber that runs may yield here by this import, the number of which it is given, without JavaScript.
  (import "js" "may" (func $may (param $import i32) (result i32)))
  ;; Whether a fiber waits that JavaScript has let wait, with nothing to be done when it goes on.
  (import "js" "idle" (func $idle (param $fiber i32) (result i32)))
  (import "js" "tell" (func $js_tell))
  ;; Behind barriers: takes what JavaScript has for the import, or throws it, and gives the fiber back what it has on
  ;; shared stacks; and obeys a command of the scheduler.
  (import "js" "end" (func $end (param $shared i32)))
  (import "js" "obey" (func $obey (param $command i32)))
  (import "js" "import" (global $import i32))

  (elem declare func $tell_it)
  (func $tell_it
    (global.set $told (ref.null $tell))
    (call $js_tell))

  (func (export "stub") (type $tell)
    (local $saved i32) (local $region i32)
    (local.set $saved (global.get $sp))
    (local.set $region (global.get $low))
    (if (local.get $region) (then
      (if (i32.lt_u (local.get $saved) (local.get $region)) (then (return_call $otherwise)))
      (if (i32.eqz (call $untouched (local.get $region))) (then (return_call $otherwise)))))
    (if (i32.eqz (call $asked)) (then (return_call $otherwise)))
    (global.set $sp (global.get $rest))
    (suspend $wait)
    (global.set $sp (local.get $saved))
    (global.set $low (local.get $region))
    (if (i32.or (i32.load (i32.const 8)) (global.get $shared)) (then (call $end (global.get $shared)))))

  ;; Lets the fiber go to the end of the queue: the core names the next one. Returns 0 if JavaScript has to do that.
  (func $asked (result i32)
    (local $own i32) (local $next i32) (local $command i32)
    (local.set $own (i32.load (i32.const 16)))
    (if (i32.or (i32.eqz (local.get $own)) (i32.ne (i32.load offset=4 (local.get $own)) (global.get $import))) (then
      (if (global.get $shared) (then (return (i32.const 0))))
      (if (i32.eqz (call $may (global.get $import))) (then (return (i32.const 0))))
      (local.set $own (i32.load (i32.const 16)))
      (global.set $told (ref.func $tell_it))))
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
    (i32.const 1)))
