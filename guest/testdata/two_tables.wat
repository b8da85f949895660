;; Exports two tables, neither under the name that marks the table of functions.
(module
  (import "fiberfill/fibers1" "tag" (func (param i32) (result i32)))
  (memory (export "memory") 1)
  (table (export "a") 1 funcref)
  (table (export "b") 1 funcref))
