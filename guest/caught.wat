;; The exception on its way from one fiber to another. There is at most one, because one computation is active.
(module $fiberfill
  (global (export "caught") (mut exnref) (ref.null exn)))
