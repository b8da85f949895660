;; Exception out of a continuation: it passes the resume, as it passes a call.
;; Prints: 1 7
(module
  (import "page" "print" (func $print (param i32)))
  (type $f (func))
  (type $k (cont $f))
  (tag $pause)
  (tag $error (param i32))
  (elem declare func $work)

  (func $work
    (call $print (i32.const 1))
    (suspend $pause)
    (throw $error (i32.const 7)))

  (func (export "main") (local $rest (ref $k))
    (local.set $rest (cont.new $k (ref.func $work)))
    (block $failed (result i32)
      (try_table (catch $error $failed)
        (loop $again
          (block $paused (result (ref $k))
            (resume $k (on $pause $paused) (local.get $rest))
            (return))
          (local.set $rest)
          (br $again)))
      (unreachable))
    (call $print)))
