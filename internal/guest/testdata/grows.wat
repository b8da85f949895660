;; Grows its memory itself and exports no allocator: there is nowhere to take stacks from.
(module
  (import "fiberfill/fibers1" "tag" (func (param i32) (result i32)))
  (memory (export "memory") 1)
  (table (export "functions") 1 funcref)
  (func (export "grow") (result i32) (memory.grow (i32.const 1))))
