;; Imports an operation that there is not, and one of another type.
(module
  (import "fiberfill/fibers1" "resume" (func (param i32)))
  (import "fiberfill/fibers1" "jump" (func))
  (memory (export "memory") 1)
  (table (export "functions") 1 funcref))
