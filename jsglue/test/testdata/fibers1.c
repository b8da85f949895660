// The guest of fibers1.

#include "guest.h"

static ff_tag yield, next, all, other;
static ff_table on_yield, on_next, on_all;

EXPORT("init") void init(void) {
  yield = fibers1_tag(FF_I32);
  next = fibers1_tag(0);
  all = fibers1_tag(FF_TYPES(FF_I32, FF_I64, FF_F32, FF_F64, FF_REF, FF_NULLREF));
  other = fibers1_tag(0);
  on_yield = fibers1_table(&yield, 1);
  on_next = fibers1_table((ff_tag[]){next, other}, 2);
  on_all = fibers1_table(&all, 1);
  fibers1_block(yield, FF_TYPES(FF_F64, FF_I32));
}

static int take(ff_fiber f) {
  ff_event e;
  return fibers1_resume(f, ff_send(&e, next), on_yield) == FF_NEXT ? -1 : e.values[0].i32;
}

static void give(ff_fiber self, int value) {
  ff_event e;
  fibers1_suspend(self, ff_send_i32(&e, yield, value), on_next);
}

static ff_types down(ff_fiber self, void *from, ff_event *e) {
  for (int i = (int)from; i > 0; i--) give(self, i);
  e->values[0].i32 = 100;
  return FF_I32;
}

static ff_fiber counter(int from) { return fibers1_new(FF_I32, on_next, down, (void *)from); }

EXPORT("sum") int sum(int from) {
  ff_fiber f = counter(from);
  int total = 0, value;
  while ((value = take(f)) >= 0) total += value;
  return total;
}

// Calls sum this many times; each generator's values go to the next.
EXPORT("sums") int sums(int times) {
  int total = 0;
  for (int i = 0; i < times; i++) total += sum(2);
  return total;
}

// --- fibers that outlive the call

static ff_fiber kept[5000];

EXPORT("keep") void keep(int n) {
  for (int i = 0; i < n; i++) {
    kept[i] = counter(i + 3);
    take(kept[i]);
  }
}
EXPORT("more") int more(int i) { return take(kept[i]); }
EXPORT("release") void release(int i) { fibers1_release(kept[i]); }

// --- values, and the first event

static ff_types echo(ff_fiber self, void *env, ff_event *e) {
  if (env != (void *)0x1234 || e->tag != all || e->label != 0 || !are_all(e, self) || ((int)e & 15)) return 0;
  ff_event back;
  fibers1_suspend(self, send_all(&back, all, self), on_next);
  e->values[0].i64 = -5;
  e->values[1].f64 = 0.25;
  return FF_TYPES(FF_I64, FF_F64);
}

EXPORT("values") int values(void) {
  ff_event e;
  ff_fiber f = fibers1_new(FF_TYPES(FF_I64, FF_F64), on_all, echo, (void *)0x1234);
  if (fibers1_resume(f, send_all(&e, all, f), on_all) != 0 || e.tag != all || !are_all(&e, f)) return 1;
  if (fibers1_resume(f, ff_send(&e, other), 0) != FF_NEXT || e.tag != 0) return 2;
  return e.types == FF_TYPES(FF_I64, FF_F64) && e.values[0].i64 == -5 && e.values[1].f64 == 0.25 ? 0 : 3;
}

// --- the other operations

static ff_types spawned(ff_fiber self, void *env, ff_event *e) {
  *(ff_fiber *)env = self;
  if (e->label != FF_NEXT || e->tag || e->types) return 0;
  give(self, 1);
  e->values[0].i32 = 2;
  return FF_I32;
}

EXPORT("spawn") int spawn(void) {
  ff_event e;
  ff_fiber f = 0;
  if (fibers1_spawn(FF_I32, spawned, &f, &e, on_yield) != 0 || e.values[0].i32 != 1 || !f) return -1;
  return fibers1_resume(f, ff_send(&e, next), on_yield) == FF_NEXT ? e.values[0].i32 : -2;
}

static ff_fiber partner;

static ff_types second(ff_fiber self, void *env, ff_event *e) {
  ff_event mine;
  note(2);
  if (!env) give(self, 7);  // to the parent of the fiber whose place it took
  else if (env == (void *)1) fibers1_retire(self, ff_send_i32(&mine, yield, 8));
  e->values[0].i32 = 9;
  return FF_I32;
}

static ff_types first(ff_fiber self, void *env, ff_event *e) {
  ff_event mine;
  note(1);
  if ((int)env == 3) fibers1_retireto(self, partner, ff_send(&mine, next));
  fibers1_switch(self, partner, ff_send(&mine, next), on_next);
  note(3);
  e->values[0].i32 = 10;
  return FF_I32;
}

// how 0: a switch, and both go on; 1: the second retires; 3: the first gives up its place.
EXPORT("switches") int switches(int how) {
  ff_event e;
  partner = fibers1_new(FF_I32, on_next, second, (void *)how);
  ff_fiber f = fibers1_new(FF_I32, on_next, first, (void *)how);
  int got = take(f);
  note(got);
  if (how == 0 && fibers1_resume(partner, ff_send(&e, next), on_yield) == FF_NEXT) note(e.values[0].i32);
  if (how != 3 && fibers1_resume(f, ff_send(&e, next), on_yield) == FF_NEXT) note(e.values[0].i32);
  return got;
}

// --- ends

static ff_types failing(ff_fiber self, void *how, ff_event *e) {
  char frame[200];
  switch ((int)how) {
    case 0: fail(5); break;
    case 1: __builtin_trap();
    case 2: return FF_F64;  // not the fiber's results
    case 3: give(self, wait(3)); break;
    case 4: fibers1_resume(counter(1), ff_send(e, all), on_yield); break;
    case 5:
      for (volatile char *p = frame; p > frame - 70000; p -= 64) *p = 1;
      give(self, 1);
  }
  note(99);
  return 0;
}

// Enters a fiber in which another one ends badly.
static ff_types outer(ff_fiber self, void *how, ff_event *e) {
  (void)self, (void)e;
  ff_fiber f = fibers1_new(0, on_next, failing, how);
  int got = take(f);
  note(98);
  if ((int)how == 3) fibers1_release(f), e->values[0].i32 = got;
  return FF_I32;
}

EXPORT("end") int end(int how) {
  ff_event e;
  ff_fiber f = fibers1_new(FF_I32, on_next, outer, (void *)how);
  fibers1_resume(f, ff_send(&e, next), on_yield);
  return e.values[0].i32;
}

static int in_host(int f) { return take(f); }
EXPORT("host") int host(void) { return call(in_host, counter(1)); }

static void *volatile no_body = (void *)100000;

// One refused operation of each kind.
EXPORT("refused") int refused(int which) {
  ff_event e;
  ff_fiber f = counter(1), over = counter(0);
  ff_send(&e, next);
  switch (which) {
    case 0: take(0); break;
    case 1: take(12345); break;
    case 2: take(over); take(over); break;
    case 3: fibers1_suspend(f, &e, on_next); break;
    case 4: fibers1_resume(f, ff_send(&e, yield), on_yield); break;
    case 5: ff_send_i32(&e, yield, 1); fibers1_resume(f, &e, on_yield); break;
    case 6: fibers1_resume(f, ff_send(&e, 77), on_yield); break;
    case 7: fibers1_resume(f, &e, 77); break;
    case 8: fibers1_new(0, on_next, (ff_body *)no_body, 0); break;
    case 9: fibers1_new(0, on_next, 0, 0); break;
    case 10: fibers1_new(0, on_next, (ff_body *)(void *)raise, 0); break;
    case 11: fibers1_new(0, 77, down, 0); break;
    case 12: fibers1_resume(f, (ff_event *)0xfffffff0, on_yield); break;
    case 13: fibers1_table((ff_tag[]){77}, 1); break;
    case 14: fibers1_table((const ff_tag *)0xfffffff0, 100); break;
    case 15: fibers1_block(yield, FF_I64); break;
    case 16: fibers1_release(f); fibers1_release(f); break;
    case 17: fibers1_switch(f, over, &e, on_next); break;
    case 18: fibers1_retire(f, &e); break;
    case 19: fibers1_retireto(f, over, &e); break;
  }
  return 1;
}
