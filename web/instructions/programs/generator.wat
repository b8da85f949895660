;; Generator: $squares yields, and knows nothing of who adds up.
;; Prints: 1 4 9 14
(module
  (import "page" "print" (func $print (param i32)))
  (type $f (func))
  (type $k (cont $f))
  (tag $yield (param i32))
  (elem declare func $squares)

  (func $squares (local $i i32)
    (loop $again
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (suspend $yield (i32.mul (local.get $i) (local.get $i)))
      (br_if $again (i32.lt_s (local.get $i) (i32.const 3)))))

  (func (export "main") (local $rest (ref $k)) (local $value i32) (local $total i32)
    (local.set $rest (cont.new $k (ref.func $squares)))
    (block $end
      (loop $again
        (block $yielded (result i32 (ref $k))
          (resume $k (on $yield $yielded) (local.get $rest))
          (br $end))
        (local.set $rest)
        (local.set $value)
        (call $print (local.get $value))
        (local.set $total (i32.add (local.get $total) (local.get $value)))
        (br $again)))
    (call $print (local.get $total))))
