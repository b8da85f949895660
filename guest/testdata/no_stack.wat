;; root > parent > child. The child lets a third fiber take its parent's place or its own, by switch or retireto, when
;; there may be no stack left for the third.
(module
  (import "fiberfill/fibers1" "tag" (func $tag (param i32) (result i32)))
  (import "fiberfill/fibers1" "table" (func $table (param i32 i32) (result i32)))
  (import "fiberfill/fibers1" "new" (func $new (param i32 i32 i32 i32) (result i32)))
  (import "fiberfill/fibers1" "resume" (func $resume (param i32 i32 i32) (result i32)))
  (import "fiberfill/fibers1" "switch" (func $switch (param i32 i32 i32 i32) (result i32)))
  (import "fiberfill/fibers1" "retireto" (func $retireto (param i32 i32 i32)))
  (memory (export "memory") 1 17)
  (table (export "functions") 3 funcref)
  (elem (i32.const 0) $parent $child $third)
  (global $on (mut i32) (i32.const 0))
  (global $leaves (mut i32) (i32.const 0))
  (func $made (param $body i32) (param $env i32) (result i32)
    (call $new (i32.const 0) (global.get $on) (local.get $body) (local.get $env)))
  (func $enter (param $f i32) (param $e i32)
    (i32.store offset=4 (local.get $e) (i32.const 1))
    (drop (call $resume (local.get $f) (local.get $e) (global.get $on))))
  (func $parent (param $self i32) (param $how i32) (param $e i32) (result i32)
    (global.set $leaves (local.get $self))
    (call $enter (call $made (i32.const 1) (local.get $how)) (i32.const 2048))
    (i32.const 0))
  (func $child (param $self i32) (param $how i32) (param $e i32) (result i32)
    (if (i32.and (local.get $how) (i32.const 1)) (then (global.set $leaves (local.get $self))))
    (i32.store offset=4 (i32.const 4096) (i32.const 1))
    (if (i32.and (local.get $how) (i32.const 2))
      (then (call $retireto (global.get $leaves) (call $made (i32.const 2) (i32.const 0)) (i32.const 4096)))
      (else
        (drop
          (call $switch
            (global.get $leaves) (call $made (i32.const 2) (i32.const 0)) (i32.const 4096) (global.get $on)))))
    (i32.const 0))
  (func $third (param i32 i32 i32) (result i32) (i32.const 0))
  (func (export "go") (param $how i32)
    (if (i32.eqz (global.get $on)) (then
      (i32.store (i32.const 512) (call $tag (i32.const 0)))
      (global.set $on (call $table (i32.const 512) (i32.const 1)))))
    (call $enter (call $made (i32.const 0) (local.get $how)) (i32.const 1024))))
