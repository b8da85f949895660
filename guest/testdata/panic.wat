;; Recipe (Binaryen 132), in this folder:
;; wasm-as --enable-mutable-globals panic.wat -o panic.wasm
;;
;; A guest whose panic leaves a text, if it has been asked beforehand.
(module
  (memory (export "memory") 1)
  (data (i32.const 64) "7 is odd\00behind")
  (global $prepared (mut i32) (i32.const 0))
  (global $text (mut i32) (i32.const 0))

  (func (export "fiberfill_panic") (result i32)
    (global.set $prepared (i32.const 1))
    (global.get $text)
    (global.set $text (i32.const 0)))

  (func (export "half") (param $n i32) (result i32)
    (if (i32.and (local.get $n) (i32.const 1))
      (then
        (if (global.get $prepared) (then (global.set $text (i32.const 64))))
        (unreachable)))
    (i32.shr_u (local.get $n) (i32.const 1)))

  ;; A trap that is no panic.
  (func (export "trap") (unreachable)))
