;; The generator of continuations.wat for Binaryen's Asyncify (bench/doc.go), all in wasm: what is outermost and what is
;; innermost works Asyncify itself, and is not rewritten.
(module
  (import "asyncify" "start_unwind" (func $start_unwind (param i32)))
  (import "asyncify" "stop_unwind" (func $stop_unwind))
  (import "asyncify" "start_rewind" (func $start_rewind (param i32)))
  (import "asyncify" "stop_rewind" (func $stop_rewind))
  (memory 1)
  (global $rewinding (mut i32) (i32.const 0))
  (global $answer (mut i32) (i32.const 0))
  (global $yielded (mut i32) (i32.const 0))

  (func $yield (param $v i32) (result i32)
    (if (global.get $rewinding) (then
      (call $stop_rewind)
      (global.set $rewinding (i32.const 0))
      (return (global.get $answer))))
    (global.set $yielded (local.get $v))
    (call $start_unwind (i32.const 16))
    (i32.const 0))

  (func $body (param $n i32) (result i32) (local $i i32) (local $a i32) (local $b i32)
    (local.set $a (i32.mul (local.get $n) (i32.const 3)))
    (local.set $b (i32.mul (local.get $n) (i32.const 5)))
    (if (result i32) (local.get $n)
      (then
        (drop (call $body (i32.sub (local.get $n) (i32.const 1))))
        (i32.add (local.get $a) (local.get $b)))
      (else
        (loop $l
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $l (call $yield (i32.add (local.get $i) (local.get $a)))))
        (local.get $i))))

  (func $again (param $depth i32) (param $v i32)
    (global.set $answer (local.get $v))
    (global.set $rewinding (i32.const 1))
    (call $start_rewind (i32.const 16))
    (drop (call $body (local.get $depth))))

  (func (export "cont") (param $depth i32) (param $n i32) (result i32) (local $i i32) (local $sum i32)
    (i32.store (i32.const 16) (i32.const 24)) ;; where frames are saved, and up to where
    (i32.store (i32.const 20) (i32.const 65536))
    (drop (call $body (local.get $depth)))
    (call $stop_unwind)
    (loop $l
      (call $again (local.get $depth) (i32.const 1))
      (call $stop_unwind)
      (local.set $sum (i32.add (local.get $sum) (global.get $yielded)))
      (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (call $again (local.get $depth) (i32.const 0))
    (local.get $i)))
