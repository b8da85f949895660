;; Recipe (Binaryen 132), in this folder:
;;   wasm-as --enable-reference-types --enable-gc --enable-exception-handling --enable-multivalue \
;;     --enable-stack-switching continuations.wat -o continuations.wasm
;;
;; What the stack-switching instructions cost. Each export does something n times and returns n.
(module
  (type $f (func (param i32) (result i32)))
  (type $k (cont $f))
  (rec (type $peer (func (param (ref null $other)))) (type $other (cont $peer)))
  (tag $yield (param i32) (result i32))
  (tag $unused (param i32) (result i32))
  (tag $swap)
  (tag $oops)
  (table $t 1000 (ref null $k))
  (elem declare func $body $leaf $inside $swapping $walking $ends $waits)

  ;; Yields from so many frames further in until the answer is 0. bench/js/asyncified.wat has the same.
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
          (br_if $l (suspend $yield (i32.add (local.get $i) (local.get $a)))))
        (local.get $i))))

  ;; Resumes, and returns the rest.
  (func $step (param $k (ref null $k)) (param $v i32) (result (ref null $k)) (local $rest (ref null $k))
    (block $h (result i32 (ref $k))
      (drop (resume $k (on $yield $h) (local.get $v) (local.get $k)))
      (return (ref.null $k)))
    (local.set $rest)
    (global.set $yielded)
    (local.get $rest))
  (global $yielded (mut i32) (i32.const 0))

  (func (export "cont") (param $depth i32) (param $n i32) (result i32)
    (local $k (ref null $k)) (local $i i32) (local $sum i32)
    (local.set $k (call $step (cont.new $k (ref.func $body)) (local.get $depth)))
    (loop $l
      (local.set $k (call $step (local.get $k) (i32.const 1)))
      (local.set $sum (i32.add (local.get $sum) (global.get $yielded)))
      (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (drop (call $step (local.get $k) (i32.const 0)))
    (local.get $i))

  ;; So many generators in turn.
  (func (export "ring") (param $width i32) (param $n i32) (result i32) (local $k (ref null $k)) (local $i i32)
    (local $at i32)
    (loop $l
      (local.set $k (call $step (cont.new $k (ref.func $body)) (i32.const 0)))
      (table.set $t (local.get $i) (local.get $k))
      (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $width))))
    (local.set $i (i32.const 0))
    (loop $l
      (local.set $k (call $step (table.get $t (local.get $at)) (i32.const 1)))
      (table.set $t (local.get $at) (local.get $k))
      (local.set $at (select (i32.const 0) (i32.add (local.get $at) (i32.const 1))
        (i32.eq (i32.add (local.get $at) (i32.const 1)) (local.get $width))))
      (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $i))

  ;; Two that switch to each other; the second ends with its caller's.
  (global $left (mut i32) (i32.const 0))
  (func $swapping (type $peer) (local $k (ref null $other))
    (local.set $k (local.get 0))
    (if (ref.is_null (local.get $k)) (then (local.set $k (cont.new $other (ref.func $swapping)))))
    (loop $l
      (global.set $left (i32.sub (global.get $left) (i32.const 1)))
      (if (i32.gt_s (global.get $left) (i32.const 0)) (then
        (local.set $k (switch $other $swap (local.get $k)))
        (br $l)))))
  (func (export "switch") (param i32) (param $n i32) (result i32)
    (global.set $left (local.get $n))
    (resume $other (on $swap switch) (ref.null $other) (cont.new $other (ref.func $swapping)))
    (i32.sub (local.get $n) (global.get $left)))

  ;; A generator inside of so many continuations that handle another tag.
  (func $inside (param $n i32) (result i32)
    (if (i32.eqz (local.get $n)) (then (return (call $body (i32.const 0)))))
    (block $h (result i32 (ref $k))
      (return (resume $k (on $unused $h) (i32.sub (local.get $n) (i32.const 1)) (cont.new $k (ref.func $inside)))))
    (unreachable))
  (func (export "handlers") (param $depth i32) (param $n i32) (result i32) (local $k (ref null $k)) (local $i i32)
    (local.set $k (call $step (cont.new $k (ref.func $inside)) (local.get $depth)))
    (loop $l
      (local.set $k (call $step (local.get $k) (i32.const 1)))
      (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (drop (call $step (local.get $k) (i32.const 0)))
    (local.get $i))

  ;; One after another that ends at once.
  (func $ends (type $f) (i32.add (local.get 0) (i32.const 1)))
  (func (export "create") (param i32) (param $n i32) (result i32) (local $i i32)
    (loop $l
      (br_if $l (i32.lt_u
        (local.tee $i (resume $k (local.get $i) (cont.new $k (ref.func $ends)))) (local.get $n))))
    (local.get $i))

  ;; A generator that walks a binary tree of that height, and yields its leaves.
  (func $leaf (param $height i32) (result i32)
    (if (i32.eqz (local.get $height)) (then (return (suspend $yield (i32.const 1)))))
    (i32.and
      (call $leaf (i32.sub (local.get $height) (i32.const 1)))
      (call $leaf (i32.sub (local.get $height) (i32.const 1)))))
  (func $walking (type $f) (call $leaf (local.get 0)))
  (func (export "tree") (param $height i32) (param $n i32) (result i32) (local $k (ref null $k)) (local $i i32)
    (loop $l
      (if (ref.is_null (local.get $k))
        (then (local.set $k (call $step (cont.new $k (ref.func $walking)) (local.get $height)))))
      (local.set $k (call $step (local.get $k) (i32.const 1)))
      (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $i))

  ;; An exception into a continuation, and out of it through so many frames.
  (func $waits (param $n i32) (result i32)
    (if (i32.eqz (local.get $n)) (then (return (suspend $yield (i32.const 1)))))
    (i32.add (call $waits (i32.sub (local.get $n) (i32.const 1))) (i32.const 1)))
  (func (export "throw") (param $depth i32) (param $n i32) (result i32) (local $k (ref null $k)) (local $i i32)
    (loop $l
      (local.set $k (call $step (cont.new $k (ref.func $waits)) (local.get $depth)))
      (block $caught
        (try_table (catch $oops $caught) (drop (resume_throw $k $oops (local.get $k)))))
      (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $i)))
