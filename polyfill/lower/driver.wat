;; Recipe (Binaryen 132), in this folder:
;;   wasm-as --enable-reference-types --enable-gc --enable-exception-handling --enable-tail-call \
;;     driver.wat -o driver.wasm
;;
;; The driver: what runs saved frames. Package lower puts it into every module that it lowers (driver.go), and all of
;; them work on one state (jsglue/lower/driver.wat says what each part of it is). The package's comment says what the
;; states of a stack are; this is the only code that changes them, beside sites.
(module $driver
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
      (field $leaf (mut (ref null $frame)))          ;; suspended: where it goes on; running: what was entered last
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
    ;; What all lowered modules share, and what changes at each switch: jsglue/lower/driver.wat says what each field is.
    (type $realm (struct
      (field $current (mut (ref null $stack)))
      (field $captured (mut (ref null $stack)))
      (field $peer (mut (ref null $stack)))
      (field $outcome (mut i32))
      (field $why (mut i32)))))

  (import "fiberfill:lower" "outermost" (func $host_outermost (param i32 funcref))) ;; calls it, or $reset after a trap
  (import "fiberfill:lower" "room" (func $host_room (result i32)))  ;; whether there is room for more frames
  (import "fiberfill:lower" "trap" (func $host_trap (param i32 (ref null $tag)))) ;; traps with a message
  (import "fiberfill:lower" "state" (global $state (mut i32)))
  (import "fiberfill:lower" "exn" (global $exn (mut exnref)))
  (import "fiberfill:lower" "frames" (global $frames (mut i32)))
  (import "fiberfill:lower" "depth" (global $depth (mut i32)))
  (import "fiberfill:lower" "nested" (global $nested (mut i32)))
  (import "fiberfill:lower" "deepest" (global $deepest (mut i32)))
  (import "fiberfill:lower" "wait" (global $wait (mut (ref null $tag))))
  (import "fiberfill:lower" "below" (global $below (mut (ref null $frame))))
  (import "fiberfill:lower" "ground" (global $ground (ref null $stack)))
  (import "fiberfill:lower" "realm" (global $realm (ref $realm)))

  ;; bits of $site
  ;; 1: the call lies in a try_table; 2: the frame is a stack
  ;; 1 alone: the function has returned, and nobody needs the frame any more. It stays linked to its caller's. Who
  ;; leaves the stack next finds it in its place, and uses it again with the link that it has: a program that goes on
  ;; and leaves in a loop makes no frames, and writes no links. A leaf that is done when its stack is resumed is not
  ;; entered.

  ;; Writing a reference costs a nanosecond or more, reading one next to nothing. So what is the same already is not
  ;; written, and what nobody will look at before it is written again is not cleared, unless it would keep something
  ;; alive.

  (elem declare func $never $enter)
  (func $never (type $reenter) (unreachable))

  (func $trap (param i32 (ref null $tag)) (call $host_trap (local.get 0) (local.get 1)) (unreachable))

  ;; Asks now and then whether there is room for more frames: an engine may end the process when its heap is full.
  (func $look
    (if (i32.gt_u (global.get $frames) (i32.const 0x20000)) (then
      (global.set $frames (i32.const 0))
      (if (i32.eqz (call $host_room)) (then (call $trap (i32.const 7) (ref.null none)))))))

  ;; Makes a continuation's inside; the frame is where it begins.
  (func (export "new") (param $leaf (ref $frame)) (result (ref $stack))
    (local $s (ref $stack))
    (global.set $frames (i32.add (global.get $frames) (i32.const 2)))
    (call $look)
    (local.set $s (struct.new $stack (ref.null none) (ref.func $never) (i32.const 2) (local.get $leaf) (ref.null none)
      (ref.null none) (ref.null none) (ref.null none) (i32.const 0) (ref.null none)))
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

  ;; cont.bind: pushes a frame that will put the bound values before the others.
  (func (export "bind") (param $k (ref null $cont)) (param $f (ref $frame)) (result (ref $stack))
    (local $s (ref $stack))
    (local.set $s (call $take (local.get $k)))
    (struct.set $frame $caller (local.get $f) (struct.get $stack $leaf (local.get $s)))
    (struct.set $stack $leaf (local.get $s) (local.get $f))
    (local.get $s))

  ;; Finds the handler of a suspension, or traps. From here on everybody saves frames, until the activation of $run is
  ;; reached that runs the handler's stack.
  (func $suspend (export "suspend") (param $tag (ref $tag))
    (local $s (ref null $stack)) (local $tags (ref null $tags)) (local $i i32) (local $n i32) (local $natives i32)
    (call $look)
    (local.set $s (struct.get $realm $current (global.get $realm)))
    (loop $outwards
      (if (ref.is_null (local.get $s)) (then (call $trap (i32.const 3) (local.get $tag))))
      (block $not_here
        (local.set $tags (br_on_null $not_here (struct.get $stack $suspends (local.get $s))))
        (local.set $n (array.len (local.get $tags)))
        (local.set $i (i32.const 0))
        (loop $each
          (if (ref.eq (array.get $tags (local.get $tags) (local.get $i)) (local.get $tag)) (then
            (call $capture (local.get $s))
            (struct.set $realm $outcome (global.get $realm) (i32.add (local.get $i) (i32.const 1)))
            (struct.set $realm $why (global.get $realm) (i32.shl (local.get $natives) (i32.const 2)))
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
    (local.set $s (struct.get $realm $current (global.get $realm)))
    (loop $outwards
      (if (ref.is_null (local.get $s)) (then (call $trap (i32.const 4) (local.get $tag))))
      (block $not_here
        (local.set $tags (br_on_null $not_here (struct.get $stack $switches (local.get $s))))
        (local.set $n (array.len (local.get $tags)))
        (local.set $i (i32.const 0))
        (loop $each
          (if (ref.eq (array.get $tags (local.get $tags) (local.get $i)) (local.get $tag)) (then
            (struct.set $realm $peer (global.get $realm) (call $take (local.get $k)))
            (call $capture (local.get $s))
            (struct.set $realm $why (global.get $realm)
              (i32.or (i32.shl (local.get $natives) (i32.const 2)) (i32.const 1)))
            (global.set $state (i32.const 1))
            (return (ref.as_non_null (local.get $s)))))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $each (i32.lt_u (local.get $i) (local.get $n)))))
      (local.set $natives (i32.add (local.get $natives) (struct.get $stack $native (local.get $s))))
      (local.set $s (struct.get $stack $parent (local.get $s)))
      (br $outwards))
    (unreachable))

  ;; resume. Returns with $state 0, the outcome, and the stack that has been captured, if one has; or with $state 1:
  ;; then the caller saves its frame.
  (func (export "resume") (param $k (ref null $cont)) (param $suspends (ref null $tags))
    (param $switches (ref null $tags)) (result (ref null $stack))
    (call $go (ref.null noexn) (call $take (local.get $k)) (local.get $suspends) (local.get $switches)))

  ;; resume_throw and resume_throw_ref: the same, but the innermost frame throws.
  (func (export "resume_throw") (param $x exnref) (param $k (ref null $cont)) (param $suspends (ref null $tags))
    (param $switches (ref null $tags)) (result (ref null $stack))
    (local $s (ref $stack))
    (local.set $s (call $take (local.get $k)))
    (if (ref.is_null (local.get $x)) (then (call $trap (i32.const 5) (ref.null none))))
    (call $go (local.get $x) (local.get $s) (local.get $suspends) (local.get $switches)))

  (func $go (param $x exnref) (param $s (ref $stack)) (param $suspends (ref null $tags))
    (param $switches (ref null $tags)) (result (ref null $stack))
    (local $outer (ref null $stack)) (local $depth i32) (local $captured (ref null $stack))
    (local.set $outer (struct.get $realm $current (global.get $realm)))
    (if (i32.eqz (ref.eq (local.get $suspends) (struct.get $stack $suspends (local.get $s))))
      (then (struct.set $stack $suspends (local.get $s) (local.get $suspends))))
    (if (i32.eqz (ref.eq (local.get $switches) (struct.get $stack $switches (local.get $s))))
      (then (struct.set $stack $switches (local.get $s) (local.get $switches))))
    (if (i32.eqz (ref.eq (local.get $outer) (struct.get $stack $parent (local.get $s))))
      (then (struct.set $stack $parent (local.get $s) (local.get $outer))))
    (struct.set $realm $current (global.get $realm) (struct.get $stack $inner (local.get $s)))
    (if (ref.is_null (local.get $outer)) (then
      (local.set $depth (global.get $depth))
      (struct.set $stack $native (local.get $s) (i32.const 1))
      (global.set $depth (i32.add (local.get $depth) (i32.const 1)))
      (if (i32.eqz (ref.is_null (local.get $x))) (then (global.set $exn (local.get $x))))
      (call $host_outermost (local.get $depth) (ref.func $enter))
      (global.set $depth (local.get $depth))
      (return (call $taken (local.get $s)))))
    (if (ref.eq (local.get $outer) (global.get $ground)) (then ;; it shares the ground's place in the depth
      (struct.set $stack $native (local.get $s) (i32.const 1))
      (local.set $captured (call $run (local.get $x) (local.get $s) (local.get $s)))
      (if (ref.eq (local.get $captured) (local.get $s)) (then (return (local.get $s))))
      (return (call $taken (local.get $s)))))
    (local.set $depth (global.get $depth))
    (if (i32.lt_u (local.get $depth) (global.get $nested)) (then
      (struct.set $stack $native (local.get $s) (i32.const 1))
      (global.set $depth (i32.add (local.get $depth) (i32.const 1)))
      (local.set $captured (call $run (local.get $x) (local.get $s) (local.get $s)))
      (global.set $depth (local.get $depth))
      (if (ref.eq (local.get $captured) (local.get $s)) (then (return (local.get $s))))
      (return (call $taken (local.get $s)))))
    ;; Too deep for the engine's stack: the outermost activation is to do it.
    (struct.set $realm $why (global.get $realm) (i32.or
      (i32.shl (i32.sub (call $natives (local.get $outer)) (i32.const 1)) (i32.const 2)) (i32.const 2)))
    (if (i32.eqz (ref.is_null (local.get $x))) (then (global.set $exn (local.get $x))))
    (struct.set $realm $captured (global.get $realm) (local.get $s))
    (struct.set $stack $last (local.get $s) (local.get $s))
    (global.set $state (i32.const 1))
    (ref.null none))

  ;; Returns the stack that has been captured: the one that has been resumed, unless $captured says another.
  (func $taken (param $s (ref null $stack)) (result (ref null $stack))
    (if (i32.or (global.get $state) (ref.is_null (struct.get $realm $captured (global.get $realm))))
      (then (return (local.get $s))))
    (local.set $s (struct.get $realm $captured (global.get $realm)))
    (struct.set $realm $captured (global.get $realm) (ref.null none))
    (local.get $s))

  ;; Notes whose frames are to be saved. Where something is left of what an overflow has cut short, it is cleared.
  (func $capture (param $s (ref null $stack))
    (if (ref.eq (local.get $s) (struct.get $realm $current (global.get $realm)))
      (then (if (i32.eqz (ref.is_null (struct.get $realm $captured (global.get $realm))))
        (then (struct.set $realm $captured (global.get $realm) (ref.null none)))))
      (else (struct.set $realm $captured (global.get $realm) (local.get $s)))))

  ;; While frames are being saved: returns the stack that they belong to.
  (func $target (result (ref null $stack))
    (if (result (ref null $stack)) (ref.is_null (struct.get $realm $captured (global.get $realm)))
      (then (struct.get $realm $current (global.get $realm)))
      (else (struct.get $realm $captured (global.get $realm)))))

  ;; A frame that may be used again for the one that is saved next, or null; "spareLeaf": for the leaf.
  (func (export "spare") (result (ref null $frame))
    (call $ifDone (struct.get $frame $caller (struct.get $stack $last (call $target)))))
  (func (export "spareLeaf") (result (ref null $frame))
    (call $ifDone (struct.get $stack $last (call $target))))
  (func $ifDone (param $f (ref null $frame)) (result (ref null $frame))
    (block $no
      (br_if $no (i32.ne (struct.get $frame $site (br_on_null $no (local.get $f))) (i32.const 1)))
      (return (local.get $f)))
    (ref.null none))

  ;; Links a frame that has been saved to the one before it; "hangLeaf": the leaf, to its stack.
  (func (export "hang") (param $f (ref $frame))
    (local $t (ref null $stack)) (local $last (ref null $frame))
    (local.set $t (call $target))
    (local.set $last (struct.get $stack $last (local.get $t)))
    (if (i32.eqz (ref.eq (struct.get $frame $caller (local.get $last)) (local.get $f)))
      (then (struct.set $frame $caller (local.get $last) (local.get $f))))
    (struct.set $stack $last (local.get $t) (local.get $f)))
  (func (export "hangLeaf") (param $f (ref $frame))
    (local $t (ref null $stack))
    (local.set $t (call $target))
    (if (i32.eqz (ref.eq (struct.get $stack $leaf (local.get $t)) (local.get $f)))
      (then (struct.set $stack $leaf (local.get $t) (local.get $f))))
    (if (i32.eqz (ref.eq (struct.get $stack $last (local.get $t)) (local.get $f)))
      (then (struct.set $stack $last (local.get $t) (local.get $f)))))

  ;; Returns how many stacks from this one outwards have an activation of $run; traps if there are too many stacks.
  (func $natives (param $s (ref null $stack)) (result i32)
    (local $n i32) (local $all i32)
    (loop $outwards
      (local.set $all (i32.add (local.get $all) (i32.const 1)))
      (if (i32.gt_u (local.get $all) (global.get $deepest)) (then (call $trap (i32.const 6) (ref.null none))))
      (local.set $n (i32.add (local.get $n) (struct.get $stack $native (local.get $s))))
      (local.set $s (struct.get $stack $parent (local.get $s)))
      (br_if $outwards (i32.eqz (ref.is_null (local.get $s)))))
    (local.get $n))

  ;; The outermost activation of $run, called through JavaScript, which calls $reset if it does not return.
  (func $enter
    (local $s (ref null $stack)) (local $next (ref null $stack)) (local $x exnref)
    (local.set $next (struct.get $realm $current (global.get $realm)))
    (loop $outwards
      (local.set $s (local.get $next))
      (local.set $next (struct.get $stack $parent (local.get $s)))
      (br_if $outwards (i32.eqz (ref.is_null (local.get $next)))))
    (local.set $x (global.get $exn))
    (if (i32.eqz (ref.is_null (local.get $x))) (then (global.set $exn (ref.null noexn))))
    (drop (call $run (local.get $x) (ref.as_non_null (local.get $s)) (ref.as_non_null (local.get $s)))))

  ;; What an export begins with that JavaScript calls: one frame of JavaScript lies below all that is resumed from now
  ;; on. The function takes the export's place.
  (func (export "begin") (param $f funcref)
    (call $host_outermost (global.get $depth) (local.get $f)))

  ;; Runs a stack from its leaf on, frame by frame, until it has returned, has been captured, or one further out is
  ;; meant. Another stack may have taken the place of the first since then, by a switch. Returns the first if that has
  ;; been captured, and null if anything else has happened. With an exception, the leaf throws.
  (func $run (param $x exnref) (param $first (ref $stack)) (param $s (ref $stack)) (result (ref null $stack))
    (local $f (ref null $frame)) (local $next (ref null $frame)) (local $last (ref null $frame))
    (local $t (ref null $stack)) (local $c (ref null $stack))
    (local $why i32)
    (local $done (ref null $frame)) ;; the one that has returned last
    (local $throws i32) ;; 1: the frame that runs was entered to throw
    (local.set $f (struct.get $stack $leaf (local.get $s)))
    (if (i32.eq (struct.get $frame $site (local.get $f)) (i32.const 1)) (then
      ;; what the frame is for has been done already (jsglue/lower/yield.wat)
      (local.set $done (local.get $f))
      (local.set $f (struct.get $frame $caller (local.get $f)))))
    (loop $enter
      (if (i32.and (struct.get $frame $site (local.get $f)) (i32.const 2)) (then
        ;; a stack: all its frames have returned
        (local.set $t (ref.cast (ref $stack) (local.get $f)))
        (struct.set $realm $current (global.get $realm) (struct.get $stack $parent (local.get $t)))
        (if (ref.eq (local.get $t) (local.get $s)) (then
          (if (i32.eqz (ref.is_null (local.get $x))) (then
            (if (i32.eqz (ref.eq (struct.get $stack $parent (local.get $t)) (global.get $ground)))
              (then (global.set $depth (i32.sub (global.get $depth) (i32.const 1)))))
            (throw_ref (local.get $x))))
          (struct.set $realm $outcome (global.get $realm) (i32.const 0))
          (return (ref.null none))))
        (struct.set $realm $outcome (global.get $realm) (i32.const 0))
        (local.set $f (struct.get $frame $caller (local.get $t)))
        (struct.set $frame $caller (local.get $t) (ref.null none))
        (br $enter)))
      (local.set $next (struct.get $frame $caller (local.get $f)))
      (if (i32.eqz (ref.is_null (local.get $x))) (then
        (if (i32.eqz (i32.and (struct.get $frame $site (local.get $f)) (i32.const 1))) (then
          (local.set $f (local.get $next)) ;; nobody would catch it there
          (br $enter)))
        (global.set $exn (local.get $x))
        (local.set $throws (i32.const 1))
        (local.set $x (ref.null noexn))))
      ;; a stack that runs knows the frame that was entered last: after a trap, what has not been entered is below it
      (if (i32.eqz (ref.eq (local.get $f) (struct.get $stack $leaf (struct.get $realm $current (global.get $realm)))))
        (then (struct.set $stack $leaf (struct.get $realm $current (global.get $realm)) (local.get $f))))
      (block $caught (result exnref)
        (try_table (catch_all_ref $caught)
          (call_ref $reenter (ref.as_non_null (local.get $f)) (struct.get $frame $reenter (local.get $f))))
        (local.set $throws (i32.const 0))
        (if (i32.eqz (global.get $state)) (then
          (struct.set $frame $site (local.get $f) (i32.const 1))
          (local.set $done (local.get $f))
          (local.set $f (local.get $next))
          (br $enter)))
        (local.set $f (local.get $next))
        ;; frames have been saved: those below follow
        (local.set $c (struct.get $realm $captured (global.get $realm)))
        (local.set $t (if (result (ref null $stack)) (ref.is_null (local.get $c))
          (then (struct.get $realm $current (global.get $realm)))
          (else (local.get $c))))
        (local.set $last (struct.get $stack $last (local.get $t)))
        (if (i32.eqz (ref.eq (local.get $f) (struct.get $frame $caller (local.get $last))))
          (then (struct.set $frame $caller (local.get $last) (local.get $f))))
        (local.set $why (struct.get $realm $why (global.get $realm)))
        (if (i32.ge_u (local.get $why) (i32.const 4)) (then
          (struct.set $realm $why (global.get $realm) (i32.sub (local.get $why) (i32.const 4)))
          (struct.set $stack $native (local.get $s) (i32.const 0))
          (struct.set $stack $last (local.get $t) (local.get $s))
          (return (ref.null none))))
        (global.set $state (i32.const 0))
        (if (i32.eqz (ref.is_null (local.get $c)))
          (then (struct.set $realm $captured (global.get $realm) (ref.null none))))
        (if (i32.eq (local.get $why) (i32.const 2)) (then
          (struct.set $stack $last (local.get $t) (ref.null none))
          (local.set $f (struct.get $stack $leaf (local.get $t)))
          (local.set $x (global.get $exn)) ;; of a resume_throw
          (if (i32.eqz (ref.is_null (local.get $x))) (then (global.set $exn (ref.null noexn))))
          (br $enter)))
        (if (i32.eqz (ref.eq (local.get $last) (struct.get $stack $leaf (local.get $t))))
          (then (struct.set $stack $last (local.get $t) (struct.get $stack $leaf (local.get $t)))))
        (if (i32.eqz
            (ref.eq (struct.get $stack $inner (local.get $t)) (struct.get $realm $current (global.get $realm))))
          (then (struct.set $stack $inner (local.get $t) (struct.get $realm $current (global.get $realm)))))
        (struct.set $stack $native (local.get $t) (i32.const 0))
        (if (local.get $why) (then
          ;; the peer takes the place of the one that switched
          (local.set $c (struct.get $realm $peer (global.get $realm)))
          (struct.set $realm $peer (global.get $realm) (ref.null none))
          (if (i32.eqz
              (ref.eq (struct.get $stack $suspends (local.get $c)) (struct.get $stack $suspends (local.get $t))))
            (then (struct.set $stack $suspends (local.get $c) (struct.get $stack $suspends (local.get $t)))))
          (if (i32.eqz
              (ref.eq (struct.get $stack $switches (local.get $c)) (struct.get $stack $switches (local.get $t))))
            (then (struct.set $stack $switches (local.get $c) (struct.get $stack $switches (local.get $t)))))
          (if (i32.eqz (ref.eq (struct.get $stack $parent (local.get $c)) (struct.get $stack $parent (local.get $t))))
            (then (struct.set $stack $parent (local.get $c) (struct.get $stack $parent (local.get $t)))))
          (if (i32.eqz (ref.eq (struct.get $stack $caller (local.get $c)) (struct.get $stack $caller (local.get $t))))
            (then (struct.set $stack $caller (local.get $c) (struct.get $stack $caller (local.get $t)))))
          (struct.set $realm $current (global.get $realm) (struct.get $stack $inner (local.get $c)))
          (local.set $f (struct.get $stack $leaf (local.get $c)))
          (call $detach (local.get $t))
          (br_if $enter (i32.eqz (ref.eq (local.get $t) (local.get $s))))
          (struct.set $stack $native (local.get $c) (i32.const 1))
          ;; Begins anew, and does not go round: V8 changes to optimised code only where a function begins.
          (return_call $run (ref.null noexn) (local.get $first) (ref.as_non_null (local.get $c)))))
        (local.set $f (struct.get $stack $caller (local.get $t)))
        (struct.set $realm $current (global.get $realm) (struct.get $stack $parent (local.get $t)))
        (call $detach (local.get $t))
        (if (i32.eqz (ref.eq (local.get $t) (local.get $first)))
          (then (struct.set $realm $captured (global.get $realm) (local.get $t))))
        (br_if $enter (i32.eqz (ref.eq (local.get $t) (local.get $s))))
        (return (if (result (ref null $stack)) (ref.eq (local.get $t) (local.get $first))
          (then (local.get $t)) (else (ref.null none)))))
      ;; the frame has thrown
      (local.set $x)
      (if (global.get $state) (then
        ;; the engine's stack has overflowed while frames were being saved: what has been saved is lost
        (global.set $state (i32.const 0))
        (struct.set $stack $last (call $target) (ref.null none))
        (struct.set $realm $captured (global.get $realm) (ref.null none))
        (struct.set $realm $peer (global.get $realm) (ref.null none))))
      (global.set $below (if (result (ref null $frame)) (local.get $throws)
        (then (ref.null none)) (else (local.get $next))))
      (local.set $throws (i32.const 0))
      ;; what has returned before must not keep alive what the exception drops
      (if (i32.eqz (ref.is_null (local.get $done))) (then
        (if (i32.eq (struct.get $frame $site (local.get $done)) (i32.const 1))
          (then (struct.set $frame $caller (local.get $done) (ref.null none))))
        (local.set $done (ref.null none))))
      (local.set $f (local.get $next))
      (br $enter))
    (unreachable))

  ;; Makes a suspended stack forget who resumed it. The ground is always there.
  (func $detach (param $t (ref null $stack))
    (if (i32.eqz (i32.or (ref.is_null (struct.get $stack $parent (local.get $t)))
      (ref.eq (struct.get $stack $parent (local.get $t)) (global.get $ground))))
      (then (struct.set $stack $parent (local.get $t) (ref.null none))))
    (if (i32.eqz (ref.is_null (struct.get $stack $caller (local.get $t))))
      (then (struct.set $stack $caller (local.get $t) (ref.null none)))))

  ;; What an import that waits is told as it begins: 1 if it could not wait, as nothing handles the tag by which it
  ;; would suspend, or as something lies in between that cannot be left; 0 if it could.
  (func (export "cannotWait") (result i32)
    (local $s (ref null $stack)) (local $tags (ref null $tags))
    (local.set $s (struct.get $realm $current (global.get $realm)))
    (loop $outwards
      (if (ref.is_null (local.get $s)) (then (return (i32.const 1))))
      (block $not_here
        (local.set $tags (br_on_null $not_here (struct.get $stack $suspends (local.get $s))))
        (if (ref.eq (array.get $tags (local.get $tags) (i32.const 0)) (global.get $wait))
          (then (return (i32.const 0)))))
      (local.set $s (struct.get $stack $parent (local.get $s)))
      (br $outwards))
    (unreachable))

  (func (export "leave") (call $suspend (ref.as_non_null (global.get $wait))))

  ;; resume where the reference is good for any number of uses (Options.Revive).
  (func (export "resumeKept") (param $k (ref null $cont)) (param $suspends (ref null $tags))
    (param $switches (ref null $tags)) (result (ref null $stack))
    (call $go (ref.null noexn) (ref.as_non_null (struct.get $cont $stack (local.get $k))) (local.get $suspends)
      (local.get $switches)))
)
