;; Recipe (Binaryen 132), in this folder:
;;   wasm-as --enable-bulk-memory guard.wat -o guard.wasm
;;
;; Whether the guard of a region is as package internal/shadow has written it: for yield.wat, which has another memory.
(module
  (import "guest" "memory" (memory 0))
  (func (export "untouched") (param $low i32) (result i32)
    (i64.eqz
      (i64.or
        (i64.or
          (i64.or (i64.xor (i64.load (local.get $low)) (i64.const 0x0f1be4f10f1be4f1))
            (i64.xor (i64.load offset=8 (local.get $low)) (i64.const 0x0f1be4f10f1be4f1)))
          (i64.or (i64.xor (i64.load offset=16 (local.get $low)) (i64.const 0x0f1be4f10f1be4f1))
            (i64.xor (i64.load offset=24 (local.get $low)) (i64.const 0x0f1be4f10f1be4f1))))
        (i64.or
          (i64.or (i64.xor (i64.load offset=32 (local.get $low)) (i64.const 0x0f1be4f10f1be4f1))
            (i64.xor (i64.load offset=40 (local.get $low)) (i64.const 0x0f1be4f10f1be4f1)))
          (i64.or (i64.xor (i64.load offset=48 (local.get $low)) (i64.const 0x0f1be4f10f1be4f1))
            (i64.xor (i64.load offset=56 (local.get $low)) (i64.const 0x0f1be4f10f1be4f1))))))))
