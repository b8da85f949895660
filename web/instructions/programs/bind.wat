;; Arguments in advance: cont.bind gives a continuation some of what it takes.
;; Prints: 6 24
(module
  (import "page" "print" (func $print (param i32)))
  (type $three (func (param i32 i32 i32)))
  (type $one (func (param i32)))
  (type $takes_three (cont $three))
  (type $takes_one (cont $one))
  (tag $more (param i32) (result i32))
  (elem declare func $multiply)

  (func $multiply (param $x i32) (param $y i32) (param $z i32) (local $product i32)
    (local.set $product (i32.mul (local.get $x) (i32.mul (local.get $y) (local.get $z))))
    (call $print (i32.mul (local.get $product) (suspend $more (local.get $product)))))

  (func (export "main") (local $rest (ref $takes_one)) (local $product i32)
    (local.set $rest
      (cont.bind $takes_three $takes_one (i32.const 1) (i32.const 2) (cont.new $takes_three (ref.func $multiply))))
    (block $asked (result i32 (ref $takes_one))
      (resume $takes_one (on $more $asked) (i32.const 3) (local.get $rest))
      (return))
    (local.set $rest)
    (call $print (local.tee $product))
    (resume $takes_one (i32.const 4) (local.get $rest))))
