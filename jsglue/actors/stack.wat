;; The stack of one actor. A substrate calls actor once, when the actor is spawned. It asks for a message, has the guest
;; handle it, and asks for the next. So an actor has one stack, however many messages it
;; gets: Chromium does not give back all that a finished stack has used.
(module
  ;; Waits: takes what the handler returned; resolves with 1 when the globals hold a message, with 0 to end.
  (import "js" "next" (func $next (param i32) (result i32)))
  (import "guest" "handle_message" (func $handle (param i32 i64 i32 i32) (result i32)))

  (global $type (export "type") (mut i32) (i32.const 0))
  (global $source (export "source") (mut i64) (i64.const 0))
  (global $payload (export "payload") (mut i32) (i32.const 0))
  (global $size (export "size") (mut i32) (i32.const 0))

  (func (export "actor") (param externref)
    (local $result i32)
    (block $end
      (loop $again
        (br_if $end (i32.eqz (call $next (local.get $result))))
        (local.set $result
          (call $handle (global.get $type) (global.get $source) (global.get $payload) (global.get $size)))
        (br $again)))))
