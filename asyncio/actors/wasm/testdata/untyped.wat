;; A module whose handler does not have the type of an actor's.
(module
  (func (export "handle_message") (param i32 i32 i32 i32) (result i32) (i32.const 1)))
