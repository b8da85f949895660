// The costs of fibers2.

#include "costs.h"

static ff_tag yield, next, end;
static ff_table on_yield, on_next;

EXPORT("init") void init(void) {
  yield = fibers2_tag(FF_I32);
  next = fibers2_tag(0);
  end = fibers2_tag(0);
  on_yield = fibers2_table(&yield, 1);
  on_next = fibers2_table(&next, 1);
}

static ff_types ones(ff_fiber self, void *env, ff_event *e) {
  (void)env;
  for (;;) fibers2_dismount(self, ff_send_i32(e, yield, 1), on_next);
}

EXPORT("mount") int mount(int n) {
  ff_event e;
  int sum = 0;
  ff_fiber f = fibers2_new(end, on_next, ones, 0);
  while (n-- > 0) {
    fibers2_mount(f, ff_send(&e, next), on_yield);
    sum += e.values[0].i32;
  }
  fibers2_release(f);
  return sum;
}
