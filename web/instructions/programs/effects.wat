;; Effects with two handlers: $counter asks for a state and says what it does; who answers stands elsewhere.
;; Prints: 0 1 2 2
(module
  (import "page" "print" (func $print (param i32)))
  (type $f (func))
  (type $get (func (param i32)))
  (type $k (cont $f))
  (type $answered (cont $get))
  (tag $read (result i32))
  (tag $write (param i32))
  (tag $say (param i32))
  (elem declare func $counter $with_state)

  (func $counter (local $n i32)
    (loop $again
      (suspend $say (local.tee $n (suspend $read)))
      (suspend $write (i32.add (local.get $n) (i32.const 1)))
      (br_if $again (i32.lt_s (local.get $n) (i32.const 1))))
    (suspend $say (suspend $read)))

  ;; The inner handler: it keeps the state, and lets $say pass.
  (func $with_state (local $rest (ref $k)) (local $asks (ref $answered)) (local $state i32)
    (local.set $rest (cont.new $k (ref.func $counter)))
    (block $end
      (loop $again
        (block $reads (result (ref $answered))
          (block $writes (result i32 (ref $k))
            (resume $k (on $read $reads) (on $write $writes) (local.get $rest))
            (br $end))
          (local.set $rest)
          (local.set $state)
          (br $again))
        (local.set $asks)
        (local.set $rest (cont.bind $answered $k (local.get $state) (local.get $asks)))
        (br $again)))
    (suspend $say (local.get $state)))

  ;; The outer handler prints.
  (func (export "main") (local $rest (ref $k))
    (local.set $rest (cont.new $k (ref.func $with_state)))
    (block $end
      (loop $again
        (block $says (result i32 (ref $k))
          (resume $k (on $say $says) (local.get $rest))
          (br $end))
        (local.set $rest)
        (call $print)
        (br $again)))))
