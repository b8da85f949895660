;; A guest whose start function calls an import that may wait.
(module
  (import "env" "wait" (func $wait (param i32) (result i32)))
  (func $start (drop (call $wait (i32.const 1))))
  (start $start))
