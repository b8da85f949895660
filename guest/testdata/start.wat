;; Uses the system in its start function, where no fiber runs.
(module
  (import "fiberfill/fibers1" "tag" (func $tag (param i32) (result i32)))
  (memory (export "memory") 1)
  (table (export "functions") 1 funcref)
  (func $main (drop (call $tag (i32.const 0))))
  (start $main))
