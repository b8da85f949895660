;; Recipe (Binaryen 132), in this folder:
;;   wasm-as -all instructions.wat -o instructions.wasm
;;
;; Every form of immediate that an instruction can have, but no memory.grow. Many immediates contain a byte 0x40, the
;; opcode of memory.grow. The last instruction with an opcode of its own is the only memory.size. The test turns it into
;; memory.grow, which the scan finds only if it has understood everything before it.
(module
  (type $pair (struct (field (mut i32)) (field (mut i64))))
  (type $bytes (array (mut i8)))
  (type $refs (array (mut funcref)))
  (type $fn (func (param i32) (result i32)))
  (memory $m 2)
  (memory $n 1)
  (table $t 64 funcref)
  (table $u 64 funcref)
  (tag $tag (param i32))
  (global $g (mut i64) (i64.const 0x4040404040))
  (global $p (mut (ref null $pair)) (struct.new $pair (i32.const 64) (i64.const 64)))
  (data $d "@@@@")
  (elem $e func $one)
  (func $one (export "one") (param $x i32) (result i32)
    (local $a (ref null $bytes)) (local $v v128) (local $f funcref) (local $q (ref null $pair))
    ;; constants
    (drop (i32.const 0x40)) (drop (i64.const 0x404040404040)) (drop (f32.const 2.0)) (drop (f64.const 2.0))
    (drop (v128.const i32x4 0x40404040 0x40404040 0x40404040 0x40404040))
    ;; memory
    (i32.store offset=64 align=1 (i32.const 0) (i32.load offset=64 (i32.const 0)))
    (i32.store $n offset=64 (i32.const 0) (i32.load8_u $n offset=8256 (i32.const 0)))
    (memory.init $d (i32.const 0) (i32.const 0) (i32.const 4)) (data.drop $d)
    (memory.copy $m $n (i32.const 0) (i32.const 0) (i32.const 4))
    (memory.fill $n (i32.const 0) (i32.const 0) (i32.const 4))
    ;; vectors
    (local.set $v (i8x16.shuffle 16 17 18 19 0 1 2 3 4 5 6 7 8 9 10 11 (local.get $v) (local.get $v)))
    (local.set $v (v128.load8_lane offset=64 15 (i32.const 0) (local.get $v)))
    (v128.store64_lane offset=64 1 (i32.const 0) (local.get $v))
    (local.set $v (v128.load32_zero offset=64 (i32.const 0)))
    (local.set $v (i8x16.replace_lane 15 (local.get $v) (i8x16.extract_lane_u 15 (local.get $v))))
    (local.set $v (f32x4.relaxed_madd (local.get $v) (local.get $v) (f64x2.convert_low_i32x4_u (local.get $v))))
    ;; tables and references
    (table.init $t $e (i32.const 0) (i32.const 0) (i32.const 1)) (elem.drop $e)
    (table.copy $t $u (i32.const 0) (i32.const 0) (i32.const 1))
    (table.fill $u (i32.const 0) (ref.null func) (i32.const 1))
    (drop (table.grow $u (ref.null func) (i32.const 1))) (drop (table.size $u))
    (table.set $t (i32.const 0) (table.get $t (i32.const 0)))
    (drop (ref.is_null (select (result funcref) (ref.func $one) (local.get $f) (i32.const 1))))
    (drop (ref.eq (ref.null $pair) (ref.as_non_null (global.get $p))))
    (drop (i32.trunc_sat_f64_u (f64.const 1)))
    ;; structs and arrays
    (struct.set $pair 1 (global.get $p) (struct.get $pair 1 (global.get $p)))
    (local.set $a (array.new_fixed $bytes 2 (i32.const 1) (i32.const 2)))
    (array.copy $bytes $bytes (local.get $a) (i32.const 0)
      (array.new_default $bytes (i32.const 64)) (i32.const 0) (array.len (local.get $a)))
    (array.set $bytes (local.get $a) (i32.const 0) (array.get_u $bytes (local.get $a) (i32.const 0)))
    (array.fill $bytes (local.get $a) (i32.const 0) (i32.const 64) (i32.const 1))
    (drop (array.new_data $bytes $d (i32.const 0) (i32.const 0)))
    (drop (array.new_elem $refs $e (i32.const 0) (i32.const 0)))
    (drop (ref.test (ref null $pair) (global.get $p))) (drop (ref.cast (ref $pair) (global.get $p)))
    (drop (block $cast (result (ref $pair))
      (drop (br_on_cast $cast (ref null struct) (ref $pair) (global.get $p))) (unreachable)))
    (drop (i31.get_s (ref.i31 (i32.const 64)))) (drop (extern.convert_any (global.get $p)))
    ;; atomics
    (drop (i32.atomic.rmw.cmpxchg offset=64 (i32.const 0) (i32.const 0) (i32.const 0))) (atomic.fence)
    ;; control
    (block $b (block $c (br_table $b $c $b (local.get $x))))
    (block $null (local.set $q (br_on_null $null (global.get $p))))
    (drop (block $some (result (ref $pair)) (br_on_non_null $some (global.get $p)) (unreachable)))
    (block $all
      (drop (block $caught (result i32)
        (try_table (result i32) (catch $tag $caught) (catch_all $all) (throw $tag (i32.const 64))))))
    (drop (call_indirect $u (type $fn) (i32.const 0) (i32.const 0)))
    (drop (call_ref $fn (i32.const 0) (ref.func $one)))
    (if (local.get $x) (then (return_call_indirect $u (type $fn) (i32.const 0) (i32.const 0))))
    (if (local.get $x) (then (return_call_ref $fn (i32.const 0) (ref.func $one))))
    (if (i64.eqz (global.get $g)) (then (return_call $one (local.get $x))))
    (memory.size)))
