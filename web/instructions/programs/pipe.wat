;; Pipe: numbers go through a filter, which is handler and generator at once.
;; Prints: 2 4 6
(module
  (import "page" "print" (func $print (param i32)))
  (type $f (func))
  (type $k (cont $f))
  (tag $raw (param i32))
  (tag $even (param i32))
  (elem declare func $source $filter)

  (func $source (local $i i32)
    (loop $again
      (suspend $raw (local.tee $i (i32.add (local.get $i) (i32.const 1))))
      (br_if $again (i32.lt_s (local.get $i) (i32.const 6)))))

  (func $filter (local $rest (ref $k)) (local $n i32)
    (local.set $rest (cont.new $k (ref.func $source)))
    (block $end
      (loop $again
        (block $given (result i32 (ref $k))
          (resume $k (on $raw $given) (local.get $rest))
          (br $end))
        (local.set $rest)
        (local.set $n)
        (if (i32.eqz (i32.and (local.get $n) (i32.const 1))) (then (suspend $even (local.get $n))))
        (br $again))))

  (func (export "main") (local $rest (ref $k))
    (local.set $rest (cont.new $k (ref.func $filter)))
    (block $end
      (loop $again
        (block $given (result i32 (ref $k))
          (resume $k (on $even $given) (local.get $rest))
          (br $end))
        (local.set $rest)
        (call $print)
        (br $again)))))
