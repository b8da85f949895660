#include <fiberfill.h>

static ff_tag yield, next;
static ff_table on_yield, on_next;

// The function of a fiber: it yields 1, 4, 9, ...
static ff_types squares(ff_fiber self, void *count, ff_event *e) {
  for (int i = 1; i <= (int)count; i++) fibers1_suspend(self, ff_send_i32(e, yield, i * i), on_next);
  return 0;
}

__attribute__((export_name("sum"))) int sum(int count) {
  if (!yield) {
    on_yield = fibers1_table((yield = fibers1_tag(FF_I32), &yield), 1);
    on_next = fibers1_table((next = fibers1_tag(0), &next), 1);
  }
  ff_fiber f = fibers1_new(0, on_next, squares, (void *)count);
  ff_event e;
  int total = 0;
  while (fibers1_resume(f, ff_send(&e, next), on_yield) != FF_NEXT) total += e.values[0].i32;
  return total;
}
