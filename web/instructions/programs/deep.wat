;; Two stacks at once: a suspension passes an inner resume, and both stacks are saved and go on together.
;; Prints: 1 42 2
(module
  (import "page" "print" (func $print (param i32)))
  (type $f (func))
  (type $k (cont $f))
  (type $answer (func (param i32)))
  (type $asked (cont $answer))
  (tag $ask (result i32))
  (tag $other)
  (elem declare func $outer $inner)

  (func $inner
    (call $print (i32.const 1))
    (call $print (suspend $ask)))

  (func $outer
    (block $handled (result (ref $k))
      (resume $k (on $other $handled) (cont.new $k (ref.func $inner))) ;; has no clause for $ask
      (call $print (i32.const 2))
      (return))
    (drop))

  (func (export "main") (local $rest (ref $asked))
    (block $asks (result (ref $asked))
      (resume $k (on $ask $asks) (cont.new $k (ref.func $outer)))
      (return))
    (local.set $rest)
    (resume $asked (i32.const 42) (local.get $rest))))
