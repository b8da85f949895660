// The guest of cont.

#include "guest.h"

static ff_tag ask, tell, all;
static ff_table on_ask, on_both, on_all;

EXPORT("init") void init(void) {
  ask = cont_event(FF_I32, FF_I64);
  tell = cont_event(FF_I32, 0);
  const ff_types every = FF_TYPES(FF_I32, FF_I64, FF_F32, FF_F64, FF_REF, FF_NULLREF);
  all = cont_event(every, every);
  on_ask = cont_table(&ask, 1);
  on_both = cont_table((ff_tag[]){tell, ask}, 2);
  on_all = cont_table(&all, 1);
}

static ff_types asking(ff_fiber self, void *env, ff_event *e) {
  (void)self;
  long long total = e->values[0].i32;
  for (int i = 0; i < (int)env; i++) {
    ff_event mine;
    cont_suspend(ff_send_i32(&mine, ask, i));
    total += mine.values[0].i64;
  }
  e->values[0].i64 = total;
  return FF_I64;
}

static ff_cont made(ff_body *body, int env) {
  ff_event e;
  cont_new(FF_I32, FF_I64, body, (void *)env, &e);
  return e.ref;
}

static ff_event *begin(ff_event *e, ff_cont k) {
  ff_send_i32(e, 0, 1)->ref = k;
  return e;
}

// Answers each question, a number, with 2^32 times it.
EXPORT("sum") int sum(int questions) {
  ff_event e;
  begin(&e, made(asking, questions));
  while (cont_resume(&e, on_both, 0, 0) != FF_NEXT) {
    if (!cont_br_on_evt(&e, ask) || cont_br_on_evt(&e, tell)) return -1;
    e.values[0].i64 = (long long)e.values[0].i32 << 32;
    e.types = FF_I64;
  }
  return e.tag == 0 && (int)e.values[0].i64 == 1 ? (int)(e.values[0].i64 >> 32) : -2;
}

static ff_types echo(ff_fiber self, void *env, ff_event *e) {
  (void)self, (void)env;
  ff_event mine;
  cont_suspend(send_all(&mine, all, 42));
  e->values[0].i64 = are_all(&mine, 43);
  return FF_I64;
}

EXPORT("values") int values(void) {
  ff_event e;
  begin(&e, made(echo, 0));
  if (cont_resume(&e, on_all, 0, 0) != 0 || !are_all(&e, 42)) return 1;
  ff_cont k = e.ref;
  send_all(&e, 0, 43)->ref = k;
  return cont_resume(&e, on_all, 0, 0) == FF_NEXT && e.values[0].i64 == 1 ? 0 : 2;
}

// --- filters: the inner resumer admits only even questions

static int even(void *env, const ff_event *e) {
  note((int)env + e->values[0].i32);
  return e->values[0].i32 % 2 == 0;
}

static ff_types inner(ff_fiber self, void *env, ff_event *e) {
  (void)self, (void)env;
  ff_event mine;
  begin(&mine, made(asking, 3));
  while (cont_resume(&mine, on_ask, even, (void *)10) != FF_NEXT) {
    mine.types = FF_I64;
    mine.values[0].i64 = 100;
  }
  e->values[0] = mine.values[0];
  return FF_I64;
}

EXPORT("filters") int filters(void) {
  ff_event e;
  begin(&e, made(inner, 0));
  while (cont_resume(&e, on_ask, 0, 0) != FF_NEXT) {
    note(e.values[0].i32);
    e.types = FF_I64;
    e.values[0].i64 = 1000;
  }
  return (int)e.values[0].i64;
}

// --- forward: the inner resumer takes the event and hands it on

static ff_types handing(ff_fiber self, void *env, ff_event *e) {
  (void)self, (void)env;
  ff_event mine;
  begin(&mine, made(asking, 2));
  int label = cont_resume(&mine, on_ask, 0, 0);
  while (label != FF_NEXT) {
    note(1);
    label = cont_forward(&mine, on_ask, 0, 0);
  }
  e->values[0] = mine.values[0];
  return FF_I64;
}

EXPORT("forwards") int forwards(void) {
  ff_event e;
  begin(&e, made(handing, 0));
  while (cont_resume(&e, on_ask, 0, 0) != FF_NEXT) {
    note(2);
    e.types = FF_I64;
    e.values[0].i64 = 50;
  }
  return (int)e.values[0].i64;
}

// --- exceptions: into a continuation that has asked (started) or one that has not, and out of the entry

EXPORT("throws") void throws(int started) {
  ff_event e;
  begin(&e, made(asking, 1));
  if (started) cont_resume(&e, on_ask, 0, 0);
  cont_throw(&e, raise, (void *)8);
  note(99);
}

static int in_host(int unused) {
  (void)unused;
  return sum(1);
}

EXPORT("refused") int refused(int which) {
  ff_event e;
  ff_cont k = made(asking, 1);
  begin(&e, k);
  switch (which) {
    case 0: e.ref = 0; cont_resume(&e, on_ask, 0, 0); break;
    case 1: cont_resume(&e, on_ask, 0, 0); begin(&e, k); cont_resume(&e, on_ask, 0, 0); break;
    case 2: e.types = 0; cont_resume(&e, on_ask, 0, 0); break;
    case 3: cont_resume(&e, 77, 0, 0); break;
    case 4: cont_new(0, 0, 0, 0, &e); break;
    case 5: cont_suspend(ff_send_i32(&e, ask, 1)); break;
    case 6: cont_suspend(ff_send(&e, 77)); break;
    case 7: cont_br_on_evt(&e, ask); break;
    case 8: cont_forward(&e, on_ask, 0, 0); break;
    case 9: cont_resume(&e, on_ask, 0, 0); cont_forward(&e, on_ask, 0, 0); break;
    case 10: e.ref ^= 1; cont_throw(&e, raise, 0); break;
    case 11: cont_resume(&e, on_ask, (ff_admits *)(void *)raise, 0); break;
    case 12: call(in_host, 0); break;
  }
  return 1;
}
