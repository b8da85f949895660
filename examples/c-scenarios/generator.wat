;; The generator of fibers v1 and its consumer, as in the document's WAT, corrected. Each instruction of the proposal is
;; a call here. A handle block with its event blocks is a br_table over the call's result, the index of the tag in the
;; list.
;;
;; An event is 88 bytes of memory (include/fiberfill.h): its tag at 4, the types of its values at 8, the first value at
;; 24. Every fiber gets the address of an event, $e. The memory:
;;
;;      0   the list of tags ($yield $end), as $on-element is made
;;   1024   the event of the consumer
;;   2048   els and count of the generator that is spawned
;;   4096   what the host gives
(module
  (import "fiberfill/fibers1" "tag" (func $tag (param i32) (result i32)))
  (import "fiberfill/fibers1" "table" (func $table (param i32 i32) (result i32)))
  (import "fiberfill/fibers1" "spawn" (func $fiber.spawn (param i32 i32 i32 i32 i32) (result i32)))
  (import "fiberfill/fibers1" "suspend" (func $fiber.suspend (param i32 i32 i32) (result i32)))
  (import "fiberfill/fibers1" "resume" (func $fiber.resume (param i32 i32 i32) (result i32)))
  (import "env" "log" (func $log (param i32 i32)))

  (memory (export "memory") 1 64)
  (table (export "functions") 2 funcref)
  (elem (i32.const 1) func $arrayGenerator)

  (global $identify (mut i32) (i32.const 0))  ;; (tag $identify (param ref $generator))
  (global $yield (mut i32) (i32.const 0))     ;; (tag $yield (param i32))
  (global $next (mut i32) (i32.const 0))      ;; (tag $next)
  (global $end (mut i32) (i32.const 0))       ;; (tag $end)
  (global $on-identify (mut i32) (i32.const 0))
  (global $on-element (mut i32) (i32.const 0))
  (global $on-next (mut i32) (i32.const 0))

  (func (export "_initialize")
    (global.set $identify (call $tag (i32.const 5)))  ;; FF_REF
    (global.set $yield (call $tag (i32.const 1)))     ;; FF_I32
    (global.set $next (call $tag (i32.const 0)))
    (global.set $end (call $tag (i32.const 0)))
    (global.set $on-identify (call $one (global.get $identify)))
    (global.set $on-next (call $one (global.get $next)))
    (i32.store (i32.const 0) (global.get $yield))
    (i32.store (i32.const 4) (global.get $end))
    (global.set $on-element (call $table (i32.const 0) (i32.const 2))))

  (func $one (param $tag i32) (result i32)
    (i32.store (i32.const 0) (local.get $tag))
    (call $table (i32.const 0) (i32.const 1)))

  (func (export "inputs") (result i32) (i32.const 4096))

  ;; Makes $e an event with one value of a type, or without a value.
  (func $send (param $e i32) (param $tag i32) (param $types i32) (param $value i32) (result i32)
    (i32.store offset=4 (local.get $e) (local.get $tag))
    (i32.store offset=8 (local.get $e) (local.get $types))
    (i64.store offset=24 (local.get $e) (i64.extend_i32_u (local.get $value)))
    (local.get $e))

  (func $arrayGenerator (param $thisTask i32) (param $env i32) (param $e i32) (result i32)
    (local $els i32) (local $count i32) (local $ix i32)
    (local.set $els (i32.load (local.get $env)))
    (local.set $count (i32.load offset=4 (local.get $env)))
    (drop (call $fiber.suspend (local.get $thisTask)
      (call $send (local.get $e) (global.get $identify) (i32.const 5) (local.get $thisTask))
      (global.get $on-next)))  ;; we are just waiting for the first next event
    (block $done
      (loop $l
        (br_if $done (i32.ge_u (local.get $ix) (local.get $count)))
        (drop (call $fiber.suspend (local.get $thisTask)
          (call $send (local.get $e) (global.get $yield) (i32.const 1)
            (i32.load (i32.add (local.get $els)
                               (i32.mul (local.get $ix)
                                        (i32.const 4)))))
          (global.get $on-next)))  ;; set up for the next $next event
        (local.set $ix (i32.add (local.get $ix) (i32.const 1)))
        (br $l)))
    (i32.const 0))  ;; nothing to return

  (global $generator (mut i32) (i32.const 0))

  (func $spawn (param $els i32) (param $count i32)
    (i32.store (i32.const 2048) (local.get $els))
    (i32.store (i32.const 2052) (local.get $count))
    (if (call $fiber.spawn (i32.const 0) (i32.const 1) (i32.const 2048) (i32.const 1024) (global.get $on-identify))
      (then (unreachable)))  ;; do not expect generator to return yet
    (global.set $generator (i32.load (i32.const 1048))))

  (func $addAllElements (export "addAllElements") (param $els i32) (param $count i32) (result i32)
    (local $total i32)
    (call $log (i32.const 0) (i32.const 0))
    (call $spawn (local.get $els) (local.get $count))
    (call $log (i32.const 1) (i32.const 0))
    (loop $l
      (block $body
        (block $on-end
          (block $on-yield
            (call $log (i32.const 2) (i32.const 0))
            (br_table $on-yield $on-end $body
              (call $fiber.resume (global.get $generator)
                (call $send (i32.const 1024) (global.get $next) (i32.const 0) (i32.const 0))
                (global.get $on-element))))
          ;; (event $yield (param i32)
          (call $log (i32.const 3) (i32.load (i32.const 1048)))
          (local.set $total (i32.add (local.get $total) (i32.load (i32.const 1048))))
          (br $l))
        ;; (event $end: not used in this example
        (unreachable))
      ;; the generator returned
      (call $log (i32.const 5) (i32.const 0)))
    (local.get $total))

  ;; Resumes the last generator, once more.
  (func (export "resumeAgain")
    (drop (call $fiber.resume (global.get $generator)
      (call $send (i32.const 1024) (global.get $next) (i32.const 0) (i32.const 0))
      (global.get $on-element)))))
