;; Recipe (Binaryen 132), in this folder:
;;   wasm-as --enable-reference-types --enable-gc frames.wat -o frames.wasm
;;
;; What a stack that waits is made of, for JavaScript to look at (src/lower/frames.ts).
(module
  ;; Every lowered module begins with this group, so that its types are the same types to the engine.
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

  ;; The innermost frame of a continuation; null if it has been used up.
  (func (export "leaf") (param $k (ref null $cont)) (result (ref null $frame))
    (block $none
      (return (struct.get $stack $leaf
        (br_on_null $none (struct.get $cont $stack (br_on_null $none (local.get $k)))))))
    (ref.null none))

  (func (export "caller") (param $f (ref $frame)) (result (ref null $frame))
    (struct.get $frame $caller (local.get $f)))

  ;; Whether it is a function's that has been left, and may have returned since: no stack, and none that has not begun,
  ;; whose site is 0.
  (func (export "isOwn") (param $f (ref $frame)) (result i32)
    (local $site i32)
    (local.set $site (struct.get $frame $site (local.get $f)))
    (i32.and (i32.ne (local.get $site) (i32.const 0)) (i32.eqz (i32.and (local.get $site) (i32.const 2)))))

  ;; Enters the function of a frame with one that is none of its own: it traps before it does anything.
  (func (export "enter") (param $f (ref $frame))
    (call_ref $reenter
      (struct.new $frame (ref.null none) (struct.get $frame $reenter (local.get $f)) (i32.const 4))
      (struct.get $frame $reenter (local.get $f)))))
