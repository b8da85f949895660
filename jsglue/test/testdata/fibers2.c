// The guest of fibers2.

#include "guest.h"

static ff_tag yield, next, done, all;
static ff_table on_yield, on_next, on_new;

EXPORT("init") void init(void) {
  yield = fibers2_tag(FF_I32);
  next = fibers2_tag(0);
  done = fibers2_tag(FF_I32);
  all = fibers2_tag(FF_TYPES(FF_I32, FF_I64, FF_F32, FF_F64, FF_REF, FF_NULLREF));
  on_yield = fibers2_table((ff_tag[]){yield, done, all}, 3);
  on_next = fibers2_table((ff_tag[]){next, all}, 2);
  on_new = fibers2_table((ff_tag[]){done, yield}, 2);
}

static ff_types results(ff_event *e, int value) {
  e->values[0].i32 = value;
  return FF_I32;
}

static ff_types body(ff_fiber self, void *env, ff_event *e) {
  ff_event mine;
  for (int i = (int)env; i > 0; i--) fibers2_dismount(self, ff_send_i32(&mine, yield, i), on_next);
  return results(e, 100);
}

static ff_types echo(ff_fiber self, void *env, ff_event *e) {
  (void)env;
  ff_event mine;
  if (e->label != 1 || !are_all(e, self)) return 0;
  fibers2_dismount(self, send_all(&mine, all, self), on_next);
  return results(e, 1);
}

EXPORT("values") int values(void) {
  ff_event e;
  ff_fiber f = fibers2_new(done, on_next, echo, 0);
  if (fibers2_mount(f, send_all(&e, all, f), on_yield) != 2 || !are_all(&e, f)) return 1;
  return fibers2_mount(f, ff_send(&e, next), on_yield) == 1 && e.tag == done && e.values[0].i32 == 1 ? 0 : 2;
}

EXPORT("sum") int sum(int from) {
  ff_event e;
  ff_fiber f = fibers2_new(done, on_next, body, (void *)from);
  int total = 0;
  while (fibers2_mount(f, ff_send(&e, next), on_yield) == 0) total += e.values[0].i32;
  return total + e.values[0].i32;
}

// An event that is not taken: nothing has happened, and the next event is taken.
EXPORT("falls") int falls(void) {
  ff_event e;
  ff_fiber f = fibers2_new(done, on_next, body, (void *)1);
  if (fibers2_mount(f, ff_send_i32(&e, yield, 1), on_yield) != FF_NEXT || e.tag) return 1;
  return fibers2_mount(f, ff_send(&e, next), on_yield) == 0 ? e.values[0].i32 - 1 : 2;
}

static ff_types dismounting(ff_fiber self, void *how, ff_event *e) {
  ff_event mine;
  note(1);
  if ((int)how == 1) fibers2_dismount_release(self, ff_send_i32(&mine, yield, 4));
  if ((int)how == 2 && fibers2_dismount_release(self, ff_send(&mine, next)) == FF_NEXT && !mine.tag) note(2);
  return results(e, 5);
}

// The label and the values that arrive: from a new fiber that returns, one that is released, or one that tries to be
// released by an event that is not taken.
EXPORT("mount_new") int mount_new(int how) {
  ff_event e;
  int label = fibers2_mount_new(dismounting, (void *)how, &e, on_new);
  note(label);
  note(e.tag == (label == FF_NEXT ? 0 : yield) && e.fiber != 0);
  return e.values[0].i32;
}

static ff_types placed(ff_fiber self, void *env, ff_event *e) {
  ff_event mine;
  note(2);
  if (env) fibers2_switch_release(self, *(ff_fiber *)env, ff_send_i32(&mine, yield, 6));
  return results(e, 7);
}

static ff_types switching(ff_fiber self, void *how, ff_event *e) {
  ff_event mine;
  note(1);
  int label = fibers2_switch_new(self, placed, (int)how ? &self : 0, &mine, on_new);
  note(label);
  note(mine.values[0].i32);
  note(mine.fiber != 0);
  return results(e, 8);
}

// how 0: the fiber whose place a new one takes goes on when it is mounted; 1: when the new one switches to it and is
// released.
EXPORT("switch_new") int switch_new(int how) {
  ff_event e;
  ff_fiber f = fibers2_new(done, on_next, switching, (void *)how);
  fibers2_mount(f, ff_send(&e, next), on_yield);
  if (!how) fibers2_mount(f, ff_send_i32(&e, yield, 9), on_yield);
  return e.values[0].i32;
}

static ff_types swapping(ff_fiber self, void *to, ff_event *e) {
  ff_event mine;
  fibers2_switch(self, (ff_fiber)to, ff_send(&mine, next), on_next);
  return results(e, 3);
}

EXPORT("switches") int switches(void) {
  ff_event e;
  ff_fiber t = fibers2_new(done, on_next, body, (void *)2), f = fibers2_new(done, on_next, swapping, (void *)t);
  fibers2_mount(f, ff_send(&e, next), on_yield);
  note(e.values[0].i32);
  fibers2_release(t);
  fibers2_release(t);
  fibers2_mount(f, ff_send(&e, next), on_yield);
  return e.values[0].i32;
}

EXPORT("refused") int refused(int which) {
  ff_event e;
  ff_fiber f = fibers2_new(done, on_next, body, 0);
  ff_send(&e, next);
  switch (which) {
    case 0: fibers2_mount(0, &e, on_yield); break;
    case 1: fibers2_mount(f, &e, on_yield), fibers2_mount(f, ff_send(&e, next), on_yield); break;
    case 2: fibers2_mount(f, &e, 0); break;  // its return event has no handler
    case 3: fibers2_dismount(f, &e, on_yield); break;
    case 4: fibers2_switch(f, f, &e, on_yield); break;
    case 5: fibers2_release(0); break;
    case 6: fibers2_new(77, on_next, body, 0); break;
    case 7: fibers2_mount_new(body, 0, &e, 0); break;
    case 8: fibers2_switch_new(f, body, 0, &e, on_new); break;
    case 9: fibers2_dismount_release(f, &e); break;
    case 10: fibers2_switch_release(f, f, &e); break;
  }
  return 1;
}
