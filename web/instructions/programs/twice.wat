;; A mistake: each continuation is good for one use, so the second resume traps.
;; Prints: 1
;; Traps: continuation already consumed
(module
  (import "page" "print" (func $print (param i32)))
  (type $f (func))
  (type $k (cont $f))
  (tag $pause)
  (elem declare func $work)

  (func $work
    (call $print (i32.const 1))
    (suspend $pause)
    (call $print (i32.const 2)))

  (func (export "main") (local $k (ref $k))
    (local.set $k (cont.new $k (ref.func $work)))
    (block $paused (result (ref $k))
      (resume $k (on $pause $paused) (local.get $k))
      (return))
    (drop) ;; this would be the right one
    (resume $k (local.get $k))))
