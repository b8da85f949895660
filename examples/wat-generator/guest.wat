;; Recipe (Binaryen 132), in this folder:
;;   wasm-as -g --enable-reference-types --enable-gc --enable-exception-handling --enable-multivalue \
;;     --enable-stack-switching guest.wat -o guest.wasm
;;
;; A generator and its consumer, with the instructions of the stack-switching proposal.
(module
  (type $takes_count (func (param i32)))
  (type $takes_nothing (func))
  (type $new (cont $takes_count))     ;; waits for a number, then runs to its end
  (type $rest (cont $takes_nothing))  ;; waits for nothing but to be resumed
  (tag $yield (param i32))
  (elem declare func $squares)

  ;; Yields 1, 4, 9, ...
  (func $squares (param $count i32) (local $i i32)
    (loop $again
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (suspend $yield (i32.mul (local.get $i) (local.get $i)))
      (br_if $again (i32.lt_s (local.get $i) (local.get $count)))))

  ;; Adds up what the generator yields: resumes it until it returns. Each time it suspends, $rest is a new reference.
  (func (export "sum") (param $count i32) (result i32) (local $rest (ref $rest)) (local $total i32)
    (local.set $rest (cont.bind $new $rest (local.get $count) (cont.new $new (ref.func $squares))))
    (loop $again
      (block $yielded (result i32 (ref $rest))
        (resume $rest (on $yield $yielded) (local.get $rest))
        (return (local.get $total)))
      (local.set $rest)
      (local.set $total (i32.add (local.get $total)))
      (br $again))
    (unreachable))
)
