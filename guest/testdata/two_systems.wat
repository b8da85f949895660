;; Imports from two systems, which is refused.
(module
  (import "fiberfill/fibers1" "tag" (func (param i32) (result i32)))
  (import "fiberfill/cont" "table" (func (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (table (export "functions") 1 funcref))
