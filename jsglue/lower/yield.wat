;; Recipe (Binaryen 132), in this folder:
;;   wasm-as --enable-reference-types --enable-gc --enable-bulk-memory --enable-tail-call -g yield.wat -o yield.wasm
;;
;; An import that yields, on stacks of our own: a stub that asks the scheduler who is next without JavaScript. What it
;; does is written down, and JavaScript is told before any of its code runs (src/substrate/yields.ts; cells.ts says what
;; lies where in the memory). There is an instance for each such import. Whatever is not usual is left to the stub that
;; the import has otherwise (package jsglue/stubs).
;;
;; The stub does by hand what the rewriter makes of a suspension (polyfill/lower): it saves its frame and returns. When
;; the fiber goes on, all that the frame is for is to put the stack pointer back, which lies in the fiber's entry. If
;; the fiber that goes on next waits in this import, too, the stub does that for it, and marks its frame as done, so
;; that the driver does not enter it. That it waits in this import is known from its entry: only `may` and this stub
;; write there, and `idle` clears it for a fiber that has waited in any other way since.
(module $fiberfill.yield
  ;; As in every lowered module (driver.wat).
  (rec
    (type $frame (sub (struct
      (field $caller (mut (ref null $frame)))
      (field $reenter (mut (ref $reenter)))
      (field $site (mut i32)))))
    (type $reenter (func (param (ref $frame))))
    (type $tag (struct (field $number (mut i32))))
    (type $tags (array (ref $tag)))
    (type $stack (sub final $frame (struct
      (field $caller (mut (ref null $frame)))
      (field $reenter (mut (ref $reenter)))
      (field $site (mut i32))
      (field $leaf (mut (ref null $frame)))
      (field $inner (mut (ref null $stack)))
      (field $parent (mut (ref null $stack)))
      (field $suspends (mut (ref null $tags)))
      (field $switches (mut (ref null $tags)))
      (field $native (mut i32))
      (field $last (mut (ref null $frame))))))
    (type $cont (sub (struct (field $stack (mut (ref null $stack))))))
    (type $realm (struct
      (field $current (mut (ref null $stack)))
      (field $captured (mut (ref null $stack)))
      (field $peer (mut (ref null $stack)))
      (field $outcome (mut i32))
      (field $why (mut i32)))))
  (type $tell (func))
  (type $wait (func))
  ;; What the rewriter makes of fiber.wat's type of the same name.
  (type $waiting (sub final $cont (struct (field $stack (mut (ref null $stack))) (field (ref null $wait)))))
  ;; The stub's frame. The group makes its type another one than that of any frame that the rewriter makes.
  (rec
    (type $held (sub final $frame (struct
      (field $caller (mut (ref null $frame)))
      (field $reenter (mut (ref $reenter)))
      (field $site (mut i32))
      (field $import (mut i32))
      (field $entry i32))))
    (type (struct (field (ref null $held)))))
  (import "driver" "state" (global $state (mut i32)))
  (import "driver" "frames" (global $frames (mut i32)))
  (import "driver" "wait" (global $wait (mut (ref null $tag))))
  (import "driver" "realm" (global $realm (ref $realm)))
  (import "fiber" "slots" (table $slots 0 (ref null $waiting)))
  (import "fiber" "memory" (memory 1))
  (import "fiber" "told" (global $told (mut (ref null $tell))))
  ;; The other stub.
  (import "stub" "otherwise" (func $otherwise))
  ;; Of the guest: its stack pointer, where that rests, and where the running fiber's region begins, 0 if it has none.
  (import "stub" "sp" (global $sp (mut i32)))
  (import "stub" "rest" (global $rest (mut i32)))
  (import "stub" "low" (global $low (mut i32)))
  ;; Throws where the engine's stack has little room left. Returns 0 unless something has been written to the guard of
  ;; the region that begins here; 0 for no region.
  (import "stub" "room" (func $room (param $low i32) (result i32))) ;; src/turn/room.ts
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

  (elem declare func $tell_it $again)
  (func $tell_it
    (global.set $told (ref.null $tell))
    (call $js_tell))

  ;; What a stack handles if the first tag is $wait.
  (global $handled (mut (ref null $tags)) (ref.null none))

  (func (export "stub") (type $tell)
    (local $saved i32) (local $region i32) (local $own i32) (local $next i32) (local $s (ref null $stack))
    (local $tags (ref null $tags)) (local $last (ref null $frame)) (local $mine (ref null $held))
    (local.set $saved (global.get $sp))
    (local.set $region (global.get $low))
    (block $otherwise
      (local.set $s (br_on_null $otherwise (struct.get $realm $current (global.get $realm))))
      (local.set $tags (struct.get $stack $suspends (local.get $s)))
      (if (i32.eqz (ref.eq (local.get $tags) (global.get $handled))) (then
        (br_if $otherwise (i32.eqz (ref.eq (global.get $wait)
          (array.get $tags (br_on_null $otherwise (local.get $tags)) (i32.const 0)))))
        (global.set $handled (local.get $tags))))
      (br_if $otherwise (i32.gt_u (global.get $frames) (i32.const 0x20000))) ;; time to see if there is room for more
      (br_if $otherwise (i32.lt_u (local.get $saved) (local.get $region)))
      (br_if $otherwise (call $room (local.get $region)))
      (br_if $otherwise (i32.eqz (local.tee $own (call $asked))))

      ;; As driver.wat's suspend, for the handler of the innermost stack.
      (if (i32.eqz (ref.is_null (struct.get $realm $captured (global.get $realm))))
        (then (struct.set $realm $captured (global.get $realm) (ref.null none))))
      (struct.set $realm $outcome (global.get $realm) (i32.const 1))
      (struct.set $realm $why (global.get $realm) (i32.const 0))
      (global.set $state (i32.const 1))
      (i32.store offset=20 (local.get $own) (local.get $saved))
      (i32.store offset=24 (local.get $own) (local.get $region))
      ;; Its frame: the one that was the stack's last leaf, if that was a stub's and is done.
      (local.set $last (struct.get $stack $last (local.get $s)))
      (block $saves
        (if (ref.test (ref $held) (local.get $last)) (then
          (local.set $mine (ref.cast (ref $held) (local.get $last)))
          (if (i32.eq (struct.get $held $site (local.get $mine)) (i32.const 1)) (then
            (if (i32.ne (struct.get $held $import (local.get $mine)) (global.get $import)) (then
              (struct.set $held $reenter (local.get $mine) (ref.func $again))
              (struct.set $held $import (local.get $mine) (global.get $import))))
            (struct.set $held $site (local.get $mine) (i32.const 4))
            (br $saves)))))
        (global.set $frames (i32.add (global.get $frames) (i32.const 1)))
        (local.set $mine (struct.new $held
          (ref.null none) (ref.func $again) (i32.const 4) (global.get $import) (local.get $own)))
        (struct.set $stack $last (local.get $s) (local.get $mine)))
      (if (i32.eqz (ref.eq (struct.get $stack $leaf (local.get $s)) (local.get $mine)))
        (then (struct.set $stack $leaf (local.get $s) (local.get $mine))))

      ;; Puts the guest's stack pointer where the fiber needs it that goes on next, if that waits here and has nothing
      ;; to be given by JavaScript; otherwise where the pointer rests.
      (local.set $next (i32.load (i32.const 16)))
      (if (i32.or (i32.or (i32.eqz (local.get $next)) (i32.or (i32.load (i32.const 8)) (global.get $shared)))
          (i32.ne (i32.load offset=4 (local.get $next)) (global.get $import)))
        (then (global.set $sp (global.get $rest)))
        (else
          (global.set $sp (i32.load offset=20 (local.get $next)))
          (global.set $low (i32.load offset=24 (local.get $next)))
          (struct.set $frame $site (struct.get $stack $leaf (struct.get $waiting $stack
            (table.get $slots (i32.load (i32.const 0))))) (i32.const 1))))
      (return))
    (return_call $otherwise))

  ;; What the driver enters with the stub's frame.
  (func $again (type $reenter) (param $f (ref $frame))
    (local $own i32)
    (local.set $own (struct.get $held $entry (ref.cast (ref $held) (local.get $f))))
    (global.set $sp (i32.load offset=20 (local.get $own)))
    (global.set $low (i32.load offset=24 (local.get $own)))
    (if (i32.or (i32.load (i32.const 8)) (global.get $shared)) (then (call $end (global.get $shared)))))

  ;; Lets the fiber go to the end of the queue: the core names the next one. Returns the address of its entry, or 0 if
  ;; JavaScript has to do that.
  (func $asked (result i32)
    (local $own i32) (local $next i32) (local $command i32)
    (local.set $own (i32.load (i32.const 16)))
    (if (i32.or (i32.eqz (local.get $own)) (i32.ne (i32.load offset=4 (local.get $own)) (global.get $import))) (then
      (if (global.get $shared) (then (return (i32.const 0))))
      (if (i32.eqz (call $may (global.get $import))) (then (return (i32.const 0))))
      (local.set $own (i32.load (i32.const 16)))
      (global.set $told (ref.func $tell_it))))
    (i32.store (i32.const 32) (i32.sub (i32.load (i32.const 32)) (i32.const 1)))
    (if (i32.le_s (i32.load (i32.const 32)) (i32.const 0)) (then (f64.store (i32.const 40) (call $now))))
    (i32.store (i32.const 24) (i32.const 1))
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
      (return (local.get $own)))
    (call $obey (local.get $command))
    (local.get $own)))
