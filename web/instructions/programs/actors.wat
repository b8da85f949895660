;; Actors: each waits for a message, and sends another; the loop delivers.
;; Prints: 5 4 3 2 1 0
(module
  (import "page" "print" (func $print (param i32)))
  (type $start (func))
  (type $receiver (func (param i32)))
  (type $new (cont $start))
  (type $k (cont $receiver))
  (tag $receive (result i32))
  (table $waiting 2 (ref null $k)) ;; the actors
  (global $to (mut i32) (i32.const -1)) ;; one message is under way
  (global $message (mut i32) (i32.const 0))
  (elem declare func $ping $pong)

  (func $send (param $to i32) (param $message i32)
    (global.set $to (local.get $to))
    (global.set $message (local.get $message)))

  (func $play (param $other i32) (local $n i32)
    (loop $again
      (call $print (local.tee $n (suspend $receive)))
      (if (i32.gt_s (local.get $n) (i32.const 0))
        (then (call $send (local.get $other) (i32.sub (local.get $n) (i32.const 1)))))
      (br_if $again (i32.gt_s (local.get $n) (i32.const 1)))))

  (func $ping (call $play (i32.const 1)))
  (func $pong (call $play (i32.const 0)))

  (func $begin (param $actor i32) (param $k (ref $new))
    (block $receives (result (ref $k))
      (resume $new (on $receive $receives) (local.get $k))
      (return))
    (call $wait (local.get $actor)))

  (func $wait (param $k (ref $k)) (param $actor i32)
    (table.set $waiting (local.get $actor) (local.get $k)))

  (func (export "main") (local $actor i32)
    (call $begin (i32.const 0) (cont.new $new (ref.func $ping)))
    (call $begin (i32.const 1) (cont.new $new (ref.func $pong)))
    (call $send (i32.const 0) (i32.const 5))
    (loop $again
      (local.set $actor (global.get $to))
      (if (i32.lt_s (local.get $actor) (i32.const 0)) (then (return)))
      (global.set $to (i32.const -1))
      (block $receives (result (ref $k))
        (resume $k (on $receive $receives) (global.get $message)
          (ref.as_non_null (table.get $waiting (local.get $actor))))
        (br $again))
      (call $wait (local.get $actor))
      (br $again))))
