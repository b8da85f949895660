;; forever() waits again whenever a wait has failed. once() waits once.
(module
  (import "fiberfill" "yield" (func $yield))

  (func (export "forever")
    (loop $again
      (block $failed (try_table (catch_all $failed) (call $yield)))
      (br $again)))

  (func (export "once") (call $yield)))
