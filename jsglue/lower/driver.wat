;; Recipe (Binaryen 132), in this folder:
;;   wasm-as --enable-mutable-globals --enable-reference-types --enable-gc --enable-multivalue --enable-exception-handling driver.wat -o driver.wasm
;;
;; The driver: what runs saved frames. There is one in a realm, whatever number of lowered modules it serves.
;; Package lower (../doc.go) says what the states are; this is the only code that changes them, beside sites.
(module $driver
  ;; Every lowered module begins with this group, so that its types are the same types to the engine.
  (rec
    ;; What a function leaves behind when it leaves its stack: a subtype of its own for each layout.
    (type $frame (sub (struct
      (field $caller (mut (ref null $frame)))
      (field $reenter (ref $reenter))
      (field $site (mut i32)))))                     ;; which call, times 4, and what follows in bits
    (type $reenter (func (param (ref $frame))))
    (type $tag (struct (field $number (mut i32))))   ;; one object for each tag: its identity
    (type $tags (array (ref $tag)))
    ;; What a continuation is inside: frames, and below them this, which is the prompt while it runs.
    (type $stack (sub final $frame (struct
      (field $caller (mut (ref null $frame)))        ;; the frame that resumed it, once that has been saved
      (field $reenter (ref $reenter))
      (field $site (mut i32))
      (field $leaf (mut (ref null $frame)))          ;; suspended: where it goes on
      (field $inner (mut (ref null $stack)))         ;; suspended: the innermost stack above this one, or itself
      (field $parent (mut (ref null $stack)))        ;; running: the next prompt outwards
      (field $suspends (mut (ref null $tags)))       ;; running: the tags of (on $tag $label), in order
      (field $switches (mut (ref null $tags)))       ;; running: the tags of (on $tag switch)
      (field $native (mut i32)))))                   ;; running: 1 if it has an activation of $run to itself
    ;; A reference to a continuation, good for one use: what every type (cont $ft) becomes a subtype of.
    (type $cont (sub (struct (field $stack (mut (ref null $stack)))))))

  (type $nothing (func))
  (import "host" "outermost" (func $host_outermost (param i32))) ;; calls $enter, and $reset should that not return
  (import "host" "trap" (func $host_trap (param i32 (ref null $tag)))) ;; traps with a message

  ;; bits of $site
  ;; 1: the call lies in a try_table; 2: the frame is a stack

  (global $state (export "state") (mut i32) (i32.const 0))      ;; 0: running; 1: frames are being saved
  (global $outcome (export "outcome") (mut i32) (i32.const 0))  ;; of a resume: 0 returned, k the k-th handler
  (global $top (ref $frame) (struct.new $frame (ref.null none) (ref.func $never) (i32.const 0)))
  (global $last (export "last") (mut (ref $frame)) (global.get $top))  ;; the frame saved last; the first is called by $top
  (global $captured (export "captured") (mut (ref null $stack)) (ref.null none))
  (global $exn (export "exn") (mut exnref) (ref.null noexn))    ;; what the next frame throws where it stands
  (global $current (export "current") (mut (ref null $stack)) (ref.null none))
  (global $leaving (mut i32) (i32.const 0))   ;; how many activations of $run have to end before the stack in question is reached
  (global $why (mut i32) (i32.const 0))       ;; 0 suspend, 1 switch, 2 hand over
  (global $target (mut (ref null $stack)) (ref.null none))
  (global $peer (mut (ref null $stack)) (ref.null none))
  (global $depth (mut i32) (i32.const 0))     ;; activations of $run since the last call from outside
  (global $first_stack (mut (ref null $stack)) (ref.null none)) ;; arguments of $enter
  (global $first_frame (mut (ref null $frame)) (ref.null none))

  (elem declare func $never)
  (func $never (type $reenter) (unreachable))

  (func (export "newTag") (param i32) (result (ref $tag)) (struct.new $tag (local.get 0)))
  (func (export "tagNumber") (param (ref $tag)) (result i32) (struct.get $tag $number (local.get 0)))
  (func (export "boom") (unreachable))

  ;; Makes a continuation's inside; the frame is where it begins.
  (func (export "new") (param $leaf (ref $frame)) (result (ref $stack))
    (local $s (ref $stack))
    (local.set $s (struct.new $stack (ref.null none) (ref.func $never) (i32.const 2) (local.get $leaf) (ref.null none)
      (ref.null none) (ref.null none) (ref.null none) (i32.const 0)))
    (struct.set $stack $inner (local.get $s) (local.get $s))
    (struct.set $frame $caller (local.get $leaf) (local.get $s))
    (local.get $s))

  ;; Uses a reference up.
  (func $take (param $k (ref null $cont)) (result (ref $stack))
    (local $s (ref null $stack))
    (if (ref.is_null (local.get $k)) (then (call $trap (i32.const 1) (ref.null none))))
    (local.set $s (struct.get $cont $stack (local.get $k)))
    (if (ref.is_null (local.get $s)) (then (call $trap (i32.const 2) (ref.null none))))
    (struct.set $cont $stack (local.get $k) (ref.null none))
    (ref.as_non_null (local.get $s)))

  (func $trap (param i32 (ref null $tag)) (call $host_trap (local.get 0) (local.get 1)) (unreachable))
  (export "trap" (func $trap))

  ;; cont.bind: pushes a frame that will put the bound values before the others.
  (func (export "bind") (param $k (ref null $cont)) (param $f (ref $frame)) (result (ref $stack))
    (local $s (ref $stack))
    (local.set $s (call $take (local.get $k)))
    (struct.set $frame $caller (local.get $f) (struct.get $stack $leaf (local.get $s)))
    (struct.set $stack $leaf (local.get $s) (local.get $f))
    (local.get $s))

  ;; Finds the handler of a suspension, or traps; from here until the handler's stack is reached everybody saves frames.
  (func (export "suspend") (param $tag (ref $tag))
    (local $s (ref null $stack)) (local $tags (ref null $tags)) (local $i i32) (local $n i32) (local $natives i32)
    (local.set $s (global.get $current))
    (loop $outwards
      (if (ref.is_null (local.get $s)) (then (call $trap (i32.const 3) (local.get $tag))))
      (block $not_here
        (local.set $tags (br_on_null $not_here (struct.get $stack $suspends (local.get $s))))
        (local.set $n (array.len (local.get $tags)))
        (local.set $i (i32.const 0))
        (loop $each
          (if (ref.eq (array.get $tags (local.get $tags) (local.get $i)) (local.get $tag)) (then
            (global.set $target (local.get $s))
            (global.set $leaving (local.get $natives))
            (global.set $outcome (i32.add (local.get $i) (i32.const 1)))
            (global.set $why (i32.const 0))
            (global.set $last (global.get $top))
            (global.set $state (i32.const 1))
            (return)))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $each (i32.lt_u (local.get $i) (local.get $n)))))
      (local.set $natives (i32.add (local.get $natives) (struct.get $stack $native (local.get $s))))
      (local.set $s (struct.get $stack $parent (local.get $s)))
      (br $outwards)))

  ;; The same for a switch; returns the stack that the switching one will be.
  (func (export "switch") (param $k (ref null $cont)) (param $tag (ref $tag)) (result (ref $stack))
    (local $s (ref null $stack)) (local $tags (ref null $tags)) (local $i i32) (local $n i32) (local $natives i32)
    (if (ref.is_null (local.get $k)) (then (call $trap (i32.const 1) (ref.null none))))
    (if (ref.is_null (struct.get $cont $stack (local.get $k))) (then (call $trap (i32.const 2) (ref.null none))))
    (local.set $s (global.get $current))
    (loop $outwards
      (if (ref.is_null (local.get $s)) (then (call $trap (i32.const 4) (local.get $tag))))
      (block $not_here
        (local.set $tags (br_on_null $not_here (struct.get $stack $switches (local.get $s))))
        (local.set $n (array.len (local.get $tags)))
        (local.set $i (i32.const 0))
        (loop $each
          (if (ref.eq (array.get $tags (local.get $tags) (local.get $i)) (local.get $tag)) (then
            (global.set $peer (call $take (local.get $k)))
            (global.set $target (local.get $s))
            (global.set $leaving (local.get $natives))
            (global.set $why (i32.const 1))
            (global.set $last (global.get $top))
            (global.set $state (i32.const 1))
            (return (ref.as_non_null (local.get $s)))))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $each (i32.lt_u (local.get $i) (local.get $n)))))
      (local.set $natives (i32.add (local.get $natives) (struct.get $stack $native (local.get $s))))
      (local.set $s (struct.get $stack $parent (local.get $s)))
      (br $outwards))
    (unreachable))

  ;; resume. Returns with $state 0 and the outcome, or with $state 1: then the caller saves its frame.
  (func (export "resume") (param $k (ref null $cont)) (param $suspends (ref null $tags)) (param $switches (ref null $tags))
    (call $go (call $take (local.get $k)) (local.get $suspends) (local.get $switches)))

  ;; resume_throw and resume_throw_ref: the same, but the innermost frame throws.
  (func (export "resume_throw") (param $x exnref) (param $k (ref null $cont)) (param $suspends (ref null $tags))
    (param $switches (ref null $tags))
    (local $s (ref $stack))
    (local.set $s (call $take (local.get $k)))
    (if (ref.is_null (local.get $x)) (then (call $trap (i32.const 5) (ref.null none))))
    (global.set $exn (local.get $x))
    (call $go (local.get $s) (local.get $suspends) (local.get $switches)))

  (func $go (param $s (ref $stack)) (param $suspends (ref null $tags)) (param $switches (ref null $tags))
    (local $f (ref null $frame)) (local $outer (ref null $stack)) (local $depth i32)
    (local.set $f (struct.get $stack $leaf (local.get $s)))
    (struct.set $stack $leaf (local.get $s) (ref.null none))
    (local.set $outer (global.get $current))
    (struct.set $stack $parent (local.get $s) (local.get $outer))
    (struct.set $stack $suspends (local.get $s) (local.get $suspends))
    (struct.set $stack $switches (local.get $s) (local.get $switches))
    (global.set $current (struct.get $stack $inner (local.get $s)))
    (struct.set $stack $inner (local.get $s) (ref.null none))
    (if (ref.is_null (local.get $outer)) (then
      (struct.set $stack $native (local.get $s) (i32.const 1))
      (global.set $first_stack (local.get $s))
      (global.set $first_frame (local.get $f))
      (local.set $depth (global.get $depth))
      (global.set $depth (i32.const 1))
      (call $host_outermost (local.get $depth))
      (global.set $depth (local.get $depth))
      (return)))
    (if (i32.ge_u (global.get $depth) (global.get $nested)) (then
      (global.set $why (i32.const 2))
      (global.set $leaving (i32.sub (global.get $depth) (i32.const 1)))
      (struct.set $frame $caller (global.get $top) (local.get $f))
      (global.set $last (local.get $s))
      (global.set $state (i32.const 1))
      (return)))
    (struct.set $stack $native (local.get $s) (i32.const 1))
    (global.set $depth (i32.add (global.get $depth) (i32.const 1)))
    (call $run (local.get $s) (local.get $f)))
  (global $nested (export "nested") (mut i32) (i32.const 1000)) ;; so many activations of $run below each other

  ;; The outermost activation of $run, called through JavaScript, which calls $reset if it does not return.
  (func (export "enter")
    (local $s (ref null $stack)) (local $f (ref null $frame))
    (local.set $s (global.get $first_stack))
    (local.set $f (global.get $first_frame))
    (global.set $first_stack (ref.null none))
    (global.set $first_frame (ref.null none))
    (call $run (ref.as_non_null (local.get $s)) (local.get $f)))

  ;; After a trap or an exception has left the outermost resume.
  (func (export "reset") (param $depth i32)
    (global.set $state (i32.const 0))
    (global.set $current (ref.null none))
    (global.set $exn (ref.null noexn))
    (global.set $depth (local.get $depth))
    (global.set $leaving (i32.const 0))
    (global.set $target (ref.null none))
    (global.set $peer (ref.null none))
    (global.set $captured (ref.null none))
    (global.set $last (global.get $top))
    (struct.set $frame $caller (global.get $top) (ref.null none)))

  ;; Runs the frames above a stack, leaf first, until the stack has returned, has been captured, or a stack further out
  ;; is meant.
  (func $run (param $s (ref $stack)) (param $f (ref null $frame))
    (local $next (ref null $frame)) (local $t (ref null $stack)) (local $c (ref null $stack)) (local $x exnref)
    (local.set $x (global.get $exn)) ;; what the frames throw, each where it stands
    (global.set $exn (ref.null noexn))
    (loop $enter
      (if (i32.and (struct.get $frame $site (local.get $f)) (i32.const 2)) (then
        ;; a stack: all its frames have returned
        (global.set $current (struct.get $stack $parent (ref.cast (ref $stack) (local.get $f))))
        (if (ref.eq (local.get $f) (local.get $s)) (then
          (global.set $depth (i32.sub (global.get $depth) (i32.const 1)))
          (if (i32.eqz (ref.is_null (local.get $x))) (then (throw_ref (local.get $x))))
          (global.set $outcome (i32.const 0))
          (return)))
        (global.set $outcome (i32.const 0))
        (local.set $f (struct.get $frame $caller (local.get $f)))
        (br $enter)))
      (local.set $next (struct.get $frame $caller (local.get $f)))
      (if (i32.eqz (ref.is_null (local.get $x))) (then
        (if (i32.eqz (i32.and (struct.get $frame $site (local.get $f)) (i32.const 1))) (then
          (local.set $f (local.get $next)) ;; nobody would catch it there
          (br $enter)))
        (global.set $exn (local.get $x))
        (local.set $x (ref.null noexn))))
      (block $caught (result exnref)
        (try_table (catch_all_ref $caught)
          (call_ref $reenter (ref.as_non_null (local.get $f)) (struct.get $frame $reenter (local.get $f))))
        (local.set $f (local.get $next))
        (br_if $enter (i32.eqz (global.get $state)))
        (struct.set $frame $caller (global.get $last) (local.get $f))
        (if (global.get $leaving) (then
          (global.set $leaving (i32.sub (global.get $leaving) (i32.const 1)))
          (struct.set $stack $native (local.get $s) (i32.const 0))
          (global.set $last (local.get $s))
          (global.set $depth (i32.sub (global.get $depth) (i32.const 1)))
          (return)))
        (global.set $state (i32.const 0))
        (local.set $f (struct.get $frame $caller (global.get $top)))
        (struct.set $frame $caller (global.get $top) (ref.null none))
        (global.set $last (global.get $top))
        (if (i32.eq (global.get $why) (i32.const 2)) (then
          (local.set $x (global.get $exn)) ;; of a resume_throw that was handed over
          (global.set $exn (ref.null noexn))
          (br $enter)))
        (local.set $t (global.get $target))
        (struct.set $stack $leaf (local.get $t) (local.get $f))
        (struct.set $stack $inner (local.get $t) (global.get $current))
        (if (global.get $why) (then
          ;; the peer takes the place of the one that switched
          (local.set $c (global.get $peer))
          (global.set $peer (ref.null none))
          (struct.set $stack $suspends (local.get $c) (struct.get $stack $suspends (local.get $t)))
          (struct.set $stack $switches (local.get $c) (struct.get $stack $switches (local.get $t)))
          (struct.set $stack $parent (local.get $c) (struct.get $stack $parent (local.get $t)))
          (struct.set $stack $caller (local.get $c) (struct.get $stack $caller (local.get $t)))
          (struct.set $stack $native (local.get $c) (struct.get $stack $native (local.get $t)))
          (local.set $f (struct.get $stack $leaf (local.get $c)))
          (struct.set $stack $leaf (local.get $c) (ref.null none))
          (global.set $current (struct.get $stack $inner (local.get $c)))
          (struct.set $stack $inner (local.get $c) (ref.null none))
          (if (ref.eq (local.get $t) (local.get $s)) (then (local.set $s (ref.as_non_null (local.get $c))))))
        (else
          (local.set $f (struct.get $stack $caller (local.get $t)))
          (global.set $current (struct.get $stack $parent (local.get $t)))
          (global.set $captured (local.get $t))))
        (global.set $target (ref.null none))
        (struct.set $stack $suspends (local.get $t) (ref.null none))
        (struct.set $stack $switches (local.get $t) (ref.null none))
        (struct.set $stack $parent (local.get $t) (ref.null none))
        (struct.set $stack $caller (local.get $t) (ref.null none))
        (struct.set $stack $native (local.get $t) (i32.const 0))
        (br_if $enter (global.get $why))
        (br_if $enter (i32.eqz (ref.eq (local.get $t) (local.get $s))))
        (global.set $depth (i32.sub (global.get $depth) (i32.const 1)))
        (return))
      ;; the frame has thrown
      (local.set $x)
      (local.set $f (local.get $next))
      (br $enter))
    (unreachable))
)
