;; Recipe (Binaryen 132), in this folder:
;;   wasm-as --enable-reference-types --enable-gc --enable-exception-handling driver.wat -o driver.wasm
;;
;; What all lowered modules of a realm share: the state of the driver. Its code is in each of them
;; (polyfill/lower/driver.wat, which says what the states are), because a call into another module costs as much as
;; ten within one.
(module $shared
  ;; Every lowered module begins with this group, so that its types are the same types to the engine.
  (rec
    ;; What a function leaves behind when it leaves its stack: a subtype of its own for each layout.
    (type $frame (sub (struct
      (field $caller (mut (ref null $frame)))
      (field $reenter (mut (ref $reenter)))
      (field $site (mut i32)))))                     ;; which call, times 4, and what follows in bits
    (type $reenter (func (param (ref $frame))))
    (type $tag (struct (field $number (mut i32))))   ;; one object for each tag: its identity
    (type $tags (array (ref $tag)))
    ;; What a continuation is inside: frames, and below them this, which is the prompt while it runs.
    (type $stack (sub final $frame (struct
      (field $caller (mut (ref null $frame)))        ;; the frame that resumed it, once that has been saved
      (field $reenter (mut (ref $reenter)))
      (field $site (mut i32))
      (field $leaf (mut (ref null $frame)))          ;; suspended: where it goes on
      (field $inner (mut (ref null $stack)))         ;; suspended: the innermost stack above this one, or itself
      (field $parent (mut (ref null $stack)))        ;; running: the next prompt outwards
      (field $suspends (mut (ref null $tags)))       ;; running: the tags of (on $tag $label), in order
      (field $switches (mut (ref null $tags)))       ;; running: the tags of (on $tag switch)
      (field $native (mut i32))                      ;; running: 1 if it has an activation of $run to itself
      ;; While its frames are being saved, the one saved last: who saves the next becomes its caller. Else the leaf
      ;; that was saved last, or null: the next leaf may use it again.
      (field $last (mut (ref null $frame))))))
    ;; A reference to a continuation, good for one use: what every type (cont $ft) becomes a subtype of.
    (type $cont (sub (struct (field $stack (mut (ref null $stack))))))
    ;; What changes at each switch: an engine finds a field of a structure in half the time of a global.
    ;; Why: RATIONALE.md, "Why does the driver keep so little in globals?".
    (type $realm (struct
      (field $current (mut (ref null $stack)))   ;; the innermost stack that runs
      ;; While frames are being saved the stack that they belong to, which the first becomes the leaf of; then, until
      ;; the handler has taken it, the one that is captured. Null: the innermost, then the one that was resumed. So it
      ;; is not written in most cases: to write a reference to a new object into an old one costs 6 ns.
      (field $captured (mut (ref null $stack)))
      (field $peer (mut (ref null $stack)))      ;; what is switched to
      (field $outcome (mut i32))                 ;; of a resume: 0 returned, k the k-th handler
      ;; While frames are being saved: 0 to suspend, 1 to switch, 2 to hand over; and, times 4, how many activations of
      ;; $run have to end before it can be done.
      (field $why (mut i32)))))

  (global $state (export "state") (mut i32) (i32.const 0))      ;; 0: running; 1: frames are being saved
  (global $exn (export "exn") (mut exnref) (ref.null noexn))    ;; what the frame that is entered throws where it stands
  (global $frames (export "frames") (mut i32) (i32.const 0)) ;; made since $look
  (global $depth (export "depth") (mut i32) (i32.const 0))    ;; activations of $run below each other
  (global $nested (export "nested") (mut i32) (i32.const 500)) ;; so many of them, at most
  (global $deepest (export "deepest") (mut i32) (i32.const 200000)) ;; so many stacks: memory is not endless

  ;; The caller's frame of the one that has thrown or trapped last; null if that had been entered to throw. For traces.
  (global $below (export "below") (mut (ref null $frame)) (ref.null none))

  ;; What barriers call before JavaScript is called: what has been done since JavaScript ran last, and it does not know.
  (type $tell (func))
  (global $told (export "told") (mut (ref null $tell)) (ref.null $tell))

  ;; What is current where a frame of JavaScript lies below that puts things right after a trap, and no stack runs.
  (global $ground (export "ground") (ref null $stack) (struct.new $stack (ref.null none) (ref.func $never) (i32.const 2)
    (struct.new $frame (ref.null none) (ref.func $never) (i32.const 0)) (ref.null none) (ref.null none) (ref.null none)
    (ref.null none) (i32.const 0) (ref.null none)))
  (global $realm (export "realm") (ref $realm) (struct.new_default $realm))
  (elem declare func $never)
  (func $never (type $reenter) (unreachable))

  (func (export "newTag") (param i32) (result (ref $tag)) (struct.new $tag (local.get 0)))
  (func (export "tagNumber") (param (ref $tag)) (result i32) (struct.get $tag $number (local.get 0)))
  (func (export "boom") (unreachable))

  ;; The number of the n-th tag, innermost first, for which a resume around has a clause of this kind; -1: there are no
  ;; more. For messages.
  (func (export "handled") (param $n i32) (param $switches i32) (result i32)
    (local $s (ref null $stack)) (local $tags (ref null $tags))
    (local.set $s (struct.get $realm $current (global.get $realm)))
    (block $none
      (loop $outwards
        (br_if $none (ref.is_null (local.get $s)))
        (local.set $tags (if (result (ref null $tags)) (local.get $switches)
          (then (struct.get $stack $switches (local.get $s)))
          (else (struct.get $stack $suspends (local.get $s)))))
        (local.set $s (struct.get $stack $parent (local.get $s)))
        (br_if $outwards (ref.is_null (local.get $tags)))
        (if (i32.lt_u (local.get $n) (array.len (local.get $tags)))
          (then (return (struct.get $tag $number (array.get $tags (local.get $tags) (local.get $n))))))
        (local.set $n (i32.sub (local.get $n) (array.len (local.get $tags))))
        (br $outwards)))
    (i32.const -1))

  (global $wait (export "wait") (mut (ref null $tag)) (ref.null none)) ;; what imports that wait suspend with

  ;; After a trap or an exception has left the outermost resume.
  (func (export "reset") (param $depth i32)
    (if (i32.eqz (ref.is_null (struct.get $realm $current (global.get $realm)))) (then
      (global.set $below
        (struct.get $frame $caller (struct.get $stack $leaf (struct.get $realm $current (global.get $realm)))))))
    (global.set $state (i32.const 0))
    (global.set $depth (local.get $depth))
    (struct.set $realm $current (global.get $realm) (ref.null none))
    (global.set $exn (ref.null noexn))
    (struct.set $realm $peer (global.get $realm) (ref.null none))
    (struct.set $realm $captured (global.get $realm) (ref.null none)))

  ;; Puts a stack, or none, into the place of the one that is current, and returns that one. For traces.
  (func (export "exchange") (param $s (ref null $stack)) (result (ref null $stack))
    (struct.get $realm $current (global.get $realm))
    (struct.set $realm $current (global.get $realm) (local.get $s)))
)
