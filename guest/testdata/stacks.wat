;; A guest whose calls check their own shadow stacks. It exports an allocator, so its fibers' stacks can come from each
;; of the three sources.
;;
;;   wasm-as -g --enable-exception-handling --enable-reference-types --enable-bulk-memory-opt stacks.wat -o stacks.wasm
(module
  (import "env" "fetch_text" (func $fetch_text (param i32 i32 i32 i32) (result i32)))
  (import "fiberfill" "yield" (func $yield))
  (import "fiberfill" "sleep_ms" (func $sleep_ms (param i32)))
  (import "env" "log" (func $log (param i32 i32)))

  (memory (export "memory") 4 1024)
  (global $__stack_pointer (mut i32) (i32.const 65536))
  (global $heap (mut i32) (i32.const 65536))
  (global $mallocs (export "mallocs") (mut i32) (i32.const 0))
  (global $caught (export "caught") (mut i32) (i32.const 0))

  ;; A heap that only grows, as far as the memory does. It traps if its caller's stack is not the guest's own.
  (func (export "malloc") (param $size i32) (result i32)
    (local $at i32)
    (if (i32.ne (global.get $__stack_pointer) (i32.const 65536)) (then (unreachable)))
    (local.set $at (global.get $heap))
    (global.set $mallocs (i32.add (global.get $mallocs) (i32.const 1)))
    (global.set $heap (i32.and (i32.add (i32.add (local.get $at) (local.get $size)) (i32.const 15)) (i32.const -16)))
    (if (i32.gt_u (global.get $heap) (i32.shl (memory.size) (i32.const 16)))
      (then (if (i32.eq (memory.grow (i32.const 16)) (i32.const -1)) (then (return (i32.const 0))))))
    (local.get $at))
  (func (export "free") (param i32))

  ;; keep(mark, times): fills 512 bytes of its stack with the mark and waits `times` times. Returns the mark if every
  ;; byte still has it, else the number of the wait after which one had not, negated.
  (func (export "keep") (param $mark i32) (param $times i32) (result i32)
    (local $frame i32)
    (local $i i32)
    (local.set $frame (i32.sub (global.get $__stack_pointer) (i32.const 512)))
    (global.set $__stack_pointer (local.get $frame))
    (memory.fill (local.get $frame) (local.get $mark) (i32.const 512))
    (block $done
      (loop $again
        (br_if $done (i32.eq (local.get $i) (local.get $times)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (if (i32.and (local.get $i) (i32.const 1)) (then (call $yield)) (else (call $sleep_ms (i32.const 1))))
        (if (i32.eqz (call $all (local.get $frame) (local.get $mark)))
          (then (return (i32.sub (i32.const 0) (local.get $i)))))
        (if (i32.ne (global.get $__stack_pointer) (local.get $frame)) (then (unreachable)))
        (br $again)))
    (global.set $__stack_pointer (i32.add (local.get $frame) (i32.const 512)))
    (local.get $mark))

  (func $all (param $at i32) (param $mark i32) (result i32)
    (local $i i32)
    (loop $next
      (if (i32.ne (i32.load8_u (i32.add (local.get $at) (local.get $i))) (i32.and (local.get $mark) (i32.const 255)))
        (then (return (i32.const 0))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.const 512))))
    (i32.const 1))

  ;; deep(bytes): takes that much stack, writes all of it, and waits.
  (func (export "deep") (param $bytes i32)
    (global.set $__stack_pointer (i32.sub (global.get $__stack_pointer) (local.get $bytes)))
    (memory.fill (global.get $__stack_pointer) (i32.const 85) (local.get $bytes))
    (call $yield)
    (global.set $__stack_pointer (i32.add (global.get $__stack_pointer) (local.get $bytes))))

  ;; wide(bytes): has a frame of that many bytes, writes the lowest 64, and waits.
  (func (export "wide") (param $bytes i32)
    (global.set $__stack_pointer (i32.sub (global.get $__stack_pointer) (local.get $bytes)))
    (memory.fill (global.get $__stack_pointer) (i32.const 85) (i32.const 64))
    (call $yield)
    (global.set $__stack_pointer (i32.add (global.get $__stack_pointer) (local.get $bytes))))

  ;; fetch_or_trap(url, url_len, n, trap): waits for the URL; if n is trap, traps after the others have begun to wait.
  (func $fetch_or_trap (export "fetch_or_trap")
    (param $url i32) (param $url_len i32) (param $n i32) (param $trap i32) (result i32)
    (if (i32.eq (local.get $n) (local.get $trap)) (then (call $yield) (unreachable)))
    (call $fetch_text (local.get $url) (local.get $url_len) (local.get $url) (i32.const 0)))

  ;; clean_up(url, url_len): counts the exceptions that pass through it.
  (func (export "clean_up") (param $url i32) (param $url_len i32)
    (block $failed (result exnref)
      (try_table (catch_all_ref $failed)
        (drop (call $fetch_text (local.get $url) (local.get $url_len) (local.get $url) (i32.const 0)))
        (return))
      (unreachable))
    (global.set $caught (i32.add (global.get $caught) (i32.const 1)))
    (throw_ref))

  ;; spin(): reports that it spins, and never waits or ends.
  (func (export "spin")
    (call $log (i32.const 1) (i32.const 1))
    (loop $again (br $again)))

  ;; deaf(): waits again whenever a wait fails.
  (func (export "deaf")
    (call $log (i32.const 1) (i32.const 1))
    (loop $again
      (block $failed (try_table (catch_all $failed) (loop $more (call $sleep_ms (i32.const 1000)) (br $more))))
      (br $again)))

  (func (export "_initialize") (global.set $heap (i32.add (global.get $heap) (i32.const 16)))))
