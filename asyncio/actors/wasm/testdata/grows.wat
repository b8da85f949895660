;; An actor that grows its memory itself and exports no allocator, so the host cannot know what is free there.
(module
  (memory (export "memory") 2)
  (global $stack (export "__stack_pointer") (mut i32) (i32.const 65536))
  (func (export "handle_message") (param i32 i64 i32 i32) (result i32)
    (global.set $stack (global.get $stack))
    (drop (memory.grow (i32.const 1)))
    (i32.const 1)))
