;; Has no memory, which is refused.
(module
  (import "fiberfill/fibers1" "tag" (func (param i32) (result i32)))
  (table (export "functions") 1 funcref))
