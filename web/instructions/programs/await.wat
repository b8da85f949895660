;; Async and await: tasks sleep, and an event loop resumes whoever is due next.
;; Prints: 10 20 11 21 12
(module
  (import "page" "print" (func $print (param i32)))
  (type $task (func (param i32 i32)))
  (type $f (func))
  (type $new (cont $task))
  (type $k (cont $f))
  (tag $sleep (param i32)) ;; ticks of the clock
  (table $due 32 (ref null $k)) ;; who is due at which tick
  (global $now (mut i32) (i32.const 0))
  (elem declare func $ticker)

  (func $ticker (param $pause i32) (param $number i32)
    (call $print (local.get $number))
    (suspend $sleep (local.get $pause))
    (call $print (i32.add (local.get $number) (i32.const 1)))
    (suspend $sleep (local.get $pause))
    (if (i32.lt_s (local.get $number) (i32.const 20))
      (then (call $print (i32.add (local.get $number) (i32.const 2))))))

  (func $start (param $at i32) (param $pause i32) (param $number i32)
    (table.set $due (local.get $at)
      (cont.bind $new $k (local.get $pause) (local.get $number) (cont.new $new (ref.func $ticker)))))

  (func $step (param $task (ref $k)) (local $pause i32) (local $rest (ref null $k))
    (block $slept (result i32 (ref $k))
      (resume $k (on $sleep $slept) (local.get $task))
      (return))
    (local.set $rest)
    (local.set $pause)
    (table.set $due (i32.add (global.get $now) (local.get $pause)) (local.get $rest)))

  (func (export "main")
    (call $start (i32.const 0) (i32.const 4) (i32.const 10))
    (call $start (i32.const 1) (i32.const 5) (i32.const 20))
    (loop $again
      (block $nobody
        (call $step (br_on_null $nobody (table.get $due (global.get $now)))))
      (global.set $now (i32.add (global.get $now) (i32.const 1)))
      (br_if $again (i32.lt_s (global.get $now) (i32.const 20))))))
