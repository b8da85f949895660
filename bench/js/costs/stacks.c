// The costs of stacks, coroutines by single-use stack references. A coroutine sends back the first value that it
// gets. When the value is 0, it retires with it.

#include "costs.h"

EXPORT("init") void init(void) {}

static ff_types echo(ff_fiber self, void *awaits, ff_event *e) {
  (void)self;
  while (e->values[0].i32) {
    e->types = FF_I32;
    stacks_switch(e, (ff_types)awaits, 0);
  }
  e->types = FF_I32;
  stacks_switch_retire(e);
}

EXPORT("switch") int switch_(int n) {
  ff_event e;
  int sum = 0;
  stacks_new(FF_I32, 0, echo, (void *)FF_I32, &e);
  for (; n >= 0; n--) {
    ff_send_i32(&e, 0, n > 0);
    stacks_switch(&e, FF_I32, 1);
    sum += e.values[0].i32;
  }
  return sum;
}

EXPORT("bind") int bind(int n) {
  ff_event e;
  int sum = 0;
  stacks_new(FF_TYPES(FF_I32, FF_I32), 0, echo, (void *)FF_TYPES(FF_I32, FF_I32), &e);
  for (; n >= 0; n--) {
    ff_send_i32(&e, 0, n > 0);
    stacks_bind(&e);
    ff_send_i32(&e, 0, 0);
    stacks_switch(&e, FF_I32, 1);
    sum += e.values[0].i32;
  }
  return sum;
}
