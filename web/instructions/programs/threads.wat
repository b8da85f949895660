;; Green threads: they take turns, and one starts another.
;; Prints: 1 2 10 3 11
(module
  (import "page" "print" (func $print (param i32)))
  (type $f (func))
  (type $thread (func (param i32)))
  (type $k (cont $f))
  (type $new (cont $thread))
  (tag $yield)
  (tag $spawn (param i32))
  (table $queue 16 (ref null $k))
  (global $first (mut i32) (i32.const 0))
  (global $last (mut i32) (i32.const 0))
  (elem declare func $parent $child)

  (func $push (param $task (ref null $k))
    (table.set $queue (global.get $last) (local.get $task))
    (global.set $last (i32.and (i32.add (global.get $last) (i32.const 1)) (i32.const 15))))

  (func $pop (result (ref null $k)) (local $task (ref null $k))
    (local.set $task (table.get $queue (global.get $first)))
    (global.set $first (i32.and (i32.add (global.get $first) (i32.const 1)) (i32.const 15)))
    (local.get $task))

  (func $parent
    (call $print (i32.const 1))
    (suspend $spawn (i32.const 10))
    (call $print (i32.const 2))
    (suspend $yield)
    (call $print (i32.const 3)))

  (func $child (param $number i32)
    (call $print (local.get $number))
    (suspend $yield)
    (call $print (i32.add (local.get $number) (i32.const 1))))

  (func (export "main") (local $rest (ref $k)) (local $number i32)
    (call $push (cont.new $k (ref.func $parent)))
    (block $end
      (loop $again
        (br_if $end (i32.eq (global.get $first) (global.get $last)))
        (block $yielded (result (ref $k))
          (block $spawned (result i32 (ref $k))
            (resume $k (on $yield $yielded) (on $spawn $spawned) (br_on_null $end (call $pop)))
            (br $again))
          (local.set $rest)
          (local.set $number)
          ;; The child goes to the end of the queue, its parent to the front: it goes on.
          (call $push (cont.bind $new $k (local.get $number) (cont.new $new (ref.func $child))))
          (global.set $first (i32.and (i32.sub (global.get $first) (i32.const 1)) (i32.const 15)))
          (table.set $queue (global.get $first) (local.get $rest))
          (br $again))
        (call $push)
        (br $again)))))
