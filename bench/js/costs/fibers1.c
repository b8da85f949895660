// The costs of fibers1.

#include "costs.h"

static ff_tag yield, next;
static ff_table on_yield, on_next;

EXPORT("init") void init(void) {
  yield = fibers1_tag(FF_I32);
  next = fibers1_tag(0);
  on_yield = fibers1_table(&yield, 1);
  on_next = fibers1_table(&next, 1);
}

static ff_types ones(ff_fiber self, void *env, ff_event *e) {
  (void)env;
  for (;;) fibers1_suspend(self, ff_send_i32(e, yield, 1), on_next);
}

EXPORT("new") int new(int n) {
  int sum = 0;
  while (n-- > 0) {
    ff_fiber f = fibers1_new(0, on_next, ones, 0);
    sum += f != 0;
    fibers1_release(f);
  }
  return sum;
}

EXPORT("resume") int resume(int n) {
  ff_event e;
  int sum = 0;
  ff_fiber f = fibers1_new(0, on_next, ones, 0);
  while (n-- > 0) {
    fibers1_resume(f, ff_send(&e, next), on_yield);
    sum += e.values[0].i32;
  }
  fibers1_release(f);
  return sum;
}

static ff_types resumer(ff_fiber self, void *n, ff_event *e) {
  (void)self;
  e->values[0].i32 = resume((int)n);
  return FF_I32;
}

EXPORT("resume_inside") int resume_inside(int n) {
  ff_event e;
  fibers1_spawn(FF_I32, resumer, (void *)n, &e, 0);
  return e.values[0].i32;
}

static ff_types returns(ff_fiber self, void *env, ff_event *e) {
  (void)self, (void)env;
  e->values[0].i32 = 1;
  return FF_I32;
}

static ff_types retires(ff_fiber self, void *env, ff_event *e) {
  (void)env;
  fibers1_retire(self, ff_send_i32(e, yield, 1));
}

static int spawn_all(ff_body *body, int n) {
  ff_event e;
  int sum = 0;
  while (n-- > 0) {
    fibers1_spawn(FF_I32, body, 0, &e, on_yield);
    sum += e.values[0].i32;
  }
  return sum;
}

EXPORT("spawn") int spawn(int n) { return spawn_all(returns, n); }
EXPORT("retire") int retire(int n) { return spawn_all(retires, n); }

static ff_types throws(ff_fiber self, void *env, ff_event *e) {
  (void)self, (void)env, (void)e;
  throw_number(1);
}

static void spawn_one(void *body) {
  ff_event e;
  fibers1_spawn(0, body, 0, &e, 0);
}

EXPORT("exception") int exception(int n) {
  int sum = 0, thrown;
  while (n-- > 0)
    if (try_call(spawn_one, throws, &thrown)) sum += thrown;
  return sum;
}

// --- two fibers that switch to each other, below the entry

static ff_types back(ff_fiber self, void *to, ff_event *e) {
  for (;;) fibers1_switch(self, (ff_fiber)to, ff_send_i32(e, yield, 1), on_next);
}

static ff_types there(ff_fiber self, void *n, ff_event *e) {
  int sum = 0;
  ff_fiber other = fibers1_new(FF_I32, on_next, back, (void *)self);
  for (int left = (int)n; left > 0; left--) {
    fibers1_switch(self, other, ff_send(e, next), on_yield);
    sum += e->values[0].i32;
  }
  fibers1_release(other);
  e->values[0].i32 = sum;
  return FF_I32;
}

EXPORT("switch") int switch_(int n) {
  ff_event e;
  fibers1_spawn(FF_I32, there, (void *)n, &e, 0);
  return e.values[0].i32;
}
