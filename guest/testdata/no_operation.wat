;; Imports an operation that does not exist, and one with the wrong type.
(module
  (import "fiberfill/fibers1" "resume" (func (param i32)))
  (import "fiberfill/fibers1" "jump" (func))
  (memory (export "memory") 1)
  (table (export "functions") 1 funcref))
