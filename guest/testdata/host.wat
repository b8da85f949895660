;; An import of the player of conformance scripts that calls a function of the guest. It throws on what that function
;; throws, as a host in JavaScript does. The host function says by its result that there was an exception.
(module
  (import "fiberfill:caught" "caught" (global $caught (mut exnref)))
  (import "test" "call" (func $call (param i32 i32) (result i32)))

  (func (export "call") (param i32 i32)
    (call $call (local.get 0) (local.get 1))
    (if (then (throw_ref (global.get $caught))))))
