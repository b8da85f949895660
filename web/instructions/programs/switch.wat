;; Switched scheduler: a task hands over to the next one at once, without a scheduler between them.
;; Prints: 10 20 30 11 21 31
(module
  (import "page" "print" (func $print (param i32)))
  (rec
    (type $task (func (param (ref null $k))))
    (type $k (cont $task)))
  (tag $turn)
  (table $queue 8 (ref null $k))
  (global $first (mut i32) (i32.const 0))
  (global $last (mut i32) (i32.const 0))
  (elem declare func $a $b $c)

  (func $push (param $task (ref null $k))
    (if (ref.is_null (local.get $task)) (then (return)))
    (table.set $queue (global.get $last) (local.get $task))
    (global.set $last (i32.and (i32.add (global.get $last) (i32.const 1)) (i32.const 7))))

  (func $pop (result (ref null $k)) (local $task (ref null $k))
    (local.set $task (table.get $queue (global.get $first)))
    (global.set $first (i32.and (i32.add (global.get $first) (i32.const 1)) (i32.const 7)))
    (local.get $task))

  ;; Whoever has handed over comes as a continuation, and waits in the queue.
  (func $run (param $number i32)
    (call $print (local.get $number))
    (call $push (switch $k $turn (call $pop)))
    (call $print (i32.add (local.get $number) (i32.const 1))))

  (func $a (type $task) (param $before (ref null $k)) (call $push (local.get $before)) (call $run (i32.const 10)))
  (func $b (type $task) (param $before (ref null $k)) (call $push (local.get $before)) (call $run (i32.const 20)))
  (func $c (type $task) (param $before (ref null $k)) (call $push (local.get $before)) (call $run (i32.const 30)))

  (func (export "main")
    (call $push (cont.new $k (ref.func $a)))
    (call $push (cont.new $k (ref.func $b)))
    (call $push (cont.new $k (ref.func $c)))
    (loop $again ;; as often as a task ends
      (if (i32.ne (global.get $first) (global.get $last))
        (then
          (resume $k (on $turn switch) (ref.null $k) (call $pop))
          (br $again))))))
