;; Asks how much memory there is and exports no allocator, so there is no source for stacks.
(module
  (import "fiberfill/fibers1" "tag" (func (param i32) (result i32)))
  (memory (export "memory") 1)
  (table (export "functions") 1 funcref)
  (func (export "size") (result i32) (memory.size)))
