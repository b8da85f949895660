;; Exception into a generator: its consumer has enough, and the generator cleans up.
;; Prints: 1 2 99
(module
  (import "page" "print" (func $print (param i32)))
  (type $f (func))
  (type $k (cont $f))
  (tag $yield (param i32))
  (tag $enough)
  (elem declare func $count)

  (func $count (local $i i32)
    (block $cleanup
      (try_table (catch $enough $cleanup)
        (loop $again
          (suspend $yield (local.tee $i (i32.add (local.get $i) (i32.const 1))))
          (br $again))))
    (call $print (i32.const 99)))

  (func (export "main") (local $rest (ref $k)) (local $n i32)
    (local.set $rest (cont.new $k (ref.func $count)))
    (loop $again
      (block $yielded (result i32 (ref $k))
        (resume $k (on $yield $yielded) (local.get $rest))
        (return))
      (local.set $rest)
      (call $print (local.tee $n))
      (br_if $again (i32.lt_s (local.get $n) (i32.const 2))))
    (resume_throw $k $enough (local.get $rest))))
