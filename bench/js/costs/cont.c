// The costs of cont by stack inspection.

#include "costs.h"

static ff_tag ask;
static ff_table on_ask;

EXPORT("init") void init(void) {
  ask = cont_event(FF_I32, FF_I32);
  on_ask = cont_table(&ask, 1);
}

// Asks until the answer is 0. The value of the first resume counts as an answer.
static ff_types asks(ff_fiber self, void *env, ff_event *e) {
  (void)self, (void)env;
  while (e->values[0].i32) cont_suspend(ff_send_i32(e, ask, 1));
  return 0;
}

static ff_types hands_on(ff_fiber self, void *env, ff_event *e) {
  (void)self, (void)env;
  cont_new(FF_I32, 0, asks, 0, e);
  ff_send_i32(e, 0, 1);
  int label = cont_resume(e, on_ask, 0, 0);
  while (label != FF_NEXT) label = cont_forward(e, on_ask, 0, 0);
  return 0;
}

static int answer(ff_body *body, int n) {
  ff_event e;
  int sum = 0;
  cont_new(FF_I32, 0, body, 0, &e);
  ff_send_i32(&e, 0, 1);
  while (cont_resume(&e, on_ask, 0, 0) != FF_NEXT) {
    sum += e.values[0].i32;
    ff_send_i32(&e, 0, --n > 0);
  }
  return sum;
}

EXPORT("resume") int resume(int n) { return answer(asks, n); }
EXPORT("forward") int forward(int n) { return answer(hands_on, n); }
