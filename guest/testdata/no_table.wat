;; Has no table, which is refused.
(module
  (import "fiberfill/fibers1" "tag" (func (param i32) (result i32)))
  (memory (export "memory") 1))
