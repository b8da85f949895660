;; A hand-written guest for fiberfill. It fetches a URL, takes a number out of the JSON that comes back and returns it,
;; in straight-line code: no callback, no promise, no state to save before the wait and restore after it.
;;
;; Two things in it are worth copying into any hand-written guest:
;;
;;   1. The shadow stack. Two calls may be in the middle of $fetch_text at the same time, in this same memory, so a
;;      buffer at a fixed address would be shared by both. Like a compiler, this guest takes its buffers from a stack
;;      that grows downwards from a global. fiberfill finds that global (the first mutable i32 global of the module)
;;      and gives every fiber a stack of its own, across every wait.
;;
;;   2. try_table. An import whose Promise is rejected does not return: the rejection arrives as a WebAssembly
;;      exception at the call. $item lets it pass, up to the page's own Promise; $item_or catches it and goes on.
;;
;; README.md says how to assemble it.
(module
  ;; Fetches the URL of $url_len bytes at $url, writes at most $cap bytes of the body to $buf, and returns the length of
  ;; the whole body. May wait. An HTTP or network error arrives as an exception.
  (import "env" "fetch_text"
    (func $fetch_text (param $url i32) (param $url_len i32) (param $buf i32) (param $cap i32) (result i32)))

  ;; Logs an event to the page: code 1 = asks, with the length of the URL; 2 = has the value. Never waits.
  (import "env" "log" (func $log (param $code i32) (param $value i32)))

  ;; Two pages. The first holds constants, and the stack of calls that do not come through fiberfill. The second is free
  ;; for the embedder: a page that calls this module without fiberfill puts its URL there.
  (memory (export "memory") 2)
  (data $key (i32.const 16) "\"value\":")    ;; the 8 bytes before the number

  ;; The shadow stack begins at the top of the first page. Compilers use this name, too.
  (global $__stack_pointer (mut i32) (i32.const 65536))

  ;; item(url, url_len): fetches {"id":17,"value":4711,...} and returns the value; -1 if the body has more than 1,024
  ;; bytes, -2 if there is no value in it.
  (func $item (export "item") (param $url i32) (param $url_len i32) (result i32)
    (local $body i32)
    (local $len i32)
    (local $value i32)

    (call $log (i32.const 1) (local.get $url_len))

    ;; Take 1,024 bytes from the stack.
    (local.set $body (i32.sub (global.get $__stack_pointer) (i32.const 1024)))
    (global.set $__stack_pointer (local.get $body))

    ;; Here the fiber waits, and other fibers run through this same function. $body is a wasm local: it lies on the
    ;; engine's stack, which no other fiber can reach. It points into this fiber's own region of the memory.
    (local.set $len
      (call $fetch_text (local.get $url) (local.get $url_len) (local.get $body) (i32.const 1024)))

    (local.set $value
      (if (result i32) (i32.gt_u (local.get $len) (i32.const 1024))
        (then (i32.const -1))
        (else (call $number_after_key (local.get $body) (i32.add (local.get $body) (local.get $len))))))

    ;; Give the bytes back. An exception skips this: the function that catches it must restore the pointer.
    (global.set $__stack_pointer (i32.add (local.get $body) (i32.const 1024)))

    (call $log (i32.const 2) (local.get $value))
    (local.get $value))

  ;; item_or(url, url_len, default): as item, but returns default if the fetch fails.
  (func $item_or (export "item_or") (param $url i32) (param $url_len i32) (param $default i32) (result i32)
    (local $sp i32)
    (local.set $sp (global.get $__stack_pointer))
    (block $failed
      ;; catch_all catches every rejection of the import; wasm cannot see the JavaScript value. It does not catch a
      ;; trap: no wasm code can.
      (try_table (catch_all $failed)
        (return (call $item (local.get $url) (local.get $url_len)))))
    ;; The exception has left $item in the middle, with its 1,024 bytes still taken.
    (global.set $__stack_pointer (local.get $sp))
    (local.get $default))

  ;; Finds the key between $at and $end and returns the number that follows it, or -2. (The keys in the server's JSON
  ;; have no white space before the colon; ../c-fetch reads JSON in general.)
  (func $number_after_key (param $at i32) (param $end i32) (result i32)
    (local $value i32)
    (local $digit i32)

    (block $found
      (loop $next
        ;; The key and one digit must still fit before $end.
        (if (i32.gt_u (i32.add (local.get $at) (i32.const 9)) (local.get $end))
          (then (return (i32.const -2))))
        ;; The key has eight bytes: one comparison.
        (br_if $found (i64.eq (i64.load align=1 (local.get $at)) (i64.load (i32.const 16))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (local.set $at (i32.add (local.get $at) (i32.const 8)))

    ;; A character that is not a digit is more than 9 above '0', as an unsigned number.
    (if (i32.gt_u (i32.sub (i32.load8_u (local.get $at)) (i32.const 48)) (i32.const 9))
      (then (return (i32.const -2))))
    (loop $digits
      (local.set $digit (i32.sub (i32.load8_u (local.get $at)) (i32.const 48)))
      (if (i32.le_u (local.get $digit) (i32.const 9))
        (then
          (local.set $value (i32.add (i32.mul (local.get $value) (i32.const 10)) (local.get $digit)))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br_if $digits (i32.lt_u (local.get $at) (local.get $end))))))
    (local.get $value)))
