;; An import that calls a function of the guest back, for the player of conformance scripts: what that throws is thrown on, as
;; it is where the host is JavaScript. The host function says by its result that there is something.
(module
  (import "fiberfill:caught" "caught" (global $caught (mut exnref)))
  (import "test" "call" (func $call (param i32 i32) (result i32)))

  (func (export "call") (param i32 i32)
    (call $call (local.get 0) (local.get 1))
    (if (then (throw_ref (global.get $caught))))))
