;; Tree walk: yields from any depth of a recursion, all of which is saved.
;; Prints: 1 2 3 4 5
(module
  (import "page" "print" (func $print (param i32)))
  (type $tree (struct (field $left (ref null $tree)) (field $value i32) (field $right (ref null $tree))))
  (type $walk (func (param (ref null $tree))))
  (type $f (func))
  (type $new (cont $walk))
  (type $k (cont $f))
  (tag $yield (param i32))
  (elem declare func $walk)

  (func $leaf (param $value i32) (result (ref $tree))
    (struct.new $tree (ref.null $tree) (local.get $value) (ref.null $tree)))

  (func $walk (param $tree (ref null $tree))
    (if (ref.is_null (local.get $tree)) (then (return)))
    (call $walk (struct.get $tree $left (local.get $tree)))
    (suspend $yield (struct.get $tree $value (local.get $tree)))
    (call $walk (struct.get $tree $right (local.get $tree))))

  (func (export "main") (local $rest (ref $k))
    (local.set $rest
      (cont.bind $new $k
        (struct.new $tree
          (call $leaf (i32.const 1))
          (i32.const 2)
          (struct.new $tree (call $leaf (i32.const 3)) (i32.const 4) (call $leaf (i32.const 5))))
        (cont.new $new (ref.func $walk))))
    (block $end
      (loop $again
        (block $yielded (result i32 (ref $k))
          (resume $k (on $yield $yielded) (local.get $rest))
          (br $end))
        (local.set $rest)
        (call $print)
        (br $again)))))
