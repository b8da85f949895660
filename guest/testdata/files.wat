;; A guest that copies a named file below the first preopened directory to its standard output, through WASI. It returns
;; the number of bytes, or WASI's error number, negated.
;;
;;   wasm-as -g --enable-mutable-globals --enable-bulk-memory-opt files.wat -o files.wasm
(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_close" (func $fd_close (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))

  (memory (export "memory") 2)
  (global $__stack_pointer (mut i32) (i32.const 65536))

  ;; The frame: 0 the file's descriptor, 4 and 8 address and length for WASI, 12 the number of bytes moved, 16 a buffer
  ;; of 4,096 bytes.
  (func (export "cat") (param $name i32) (param $name_len i32) (result i32)
    (local $frame i32)
    (local $total i32)
    (local $error i32)
    (local.set $frame (i32.sub (global.get $__stack_pointer) (i32.const 4112)))
    (global.set $__stack_pointer (local.get $frame))
    (block $end
      (br_if $end (local.tee $error
        (call $path_open (i32.const 3) (i32.const 0) (local.get $name) (local.get $name_len) (i32.const 0)
          (i64.const 2) (i64.const 0) (i32.const 0) (local.get $frame))))
      (loop $more
        (i32.store offset=4 (local.get $frame) (i32.add (local.get $frame) (i32.const 16)))
        (i32.store offset=8 (local.get $frame) (i32.const 4096))
        (br_if $end (local.tee $error
          (call $fd_read (i32.load (local.get $frame)) (i32.add (local.get $frame) (i32.const 4)) (i32.const 1)
            (i32.add (local.get $frame) (i32.const 12)))))
        (if (i32.load offset=12 (local.get $frame))
          (then
            (local.set $total (i32.add (local.get $total) (i32.load offset=12 (local.get $frame))))
            (i32.store offset=8 (local.get $frame) (i32.load offset=12 (local.get $frame)))
            (br_if $end (local.tee $error
              (call $fd_write (i32.const 1) (i32.add (local.get $frame) (i32.const 4)) (i32.const 1)
                (i32.add (local.get $frame) (i32.const 12)))))
            (br $more))))
      (drop (call $fd_close (i32.load (local.get $frame)))))
    (global.set $__stack_pointer (i32.add (local.get $frame) (i32.const 4112)))
    (if (result i32) (local.get $error)
      (then (i32.sub (i32.const 0) (local.get $error)))
      (else (local.get $total))))

  ;; sleep(ms, times): by WASI, on the monotonic clock. The frame: 0 the subscription of 48 bytes, 48 the event, 80 the
  ;; number of events.
  (func (export "sleep") (param $ms i32) (param $times i32) (result i32)
    (local $frame i32)
    (local.set $frame (i32.sub (global.get $__stack_pointer) (i32.const 96)))
    (global.set $__stack_pointer (local.get $frame))
    (memory.fill (local.get $frame) (i32.const 0) (i32.const 96))
    (i32.store offset=16 (local.get $frame) (i32.const 1))
    (i64.store offset=24 (local.get $frame) (i64.mul (i64.extend_i32_u (local.get $ms)) (i64.const 1000000)))
    (loop $again
      (drop (call $poll_oneoff (local.get $frame) (i32.add (local.get $frame) (i32.const 48)) (i32.const 1)
        (i32.add (local.get $frame) (i32.const 80))))
      (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))
    (global.set $__stack_pointer (i32.add (local.get $frame) (i32.const 96)))
    (i32.load offset=80 (local.get $frame)))

  (func (export "_start") (call $proc_exit (i32.const 7))))
