;; The exception that is on its way from one fiber to another: there is one at most, since one computation is active.
(module $fiberfill
  (global (export "caught") (mut exnref) (ref.null exn)))
