// The guest of stacks: coroutines by single-use references.

#include "guest.h"

static ff_types ends(ff_fiber self, void *env, ff_event *e) {
  note(self == 0 && env == (void *)5);
  note(e->values[0].i32);
  e->values[0].i32++;
  stacks_switch_retire(e);  // e->ref is the sender
}

EXPORT("new") int new(int how) {
  ff_event e;
  if (how) stacks_new_ref(FF_I32, 0, ends, (void *)5, &e);
  else stacks_new(FF_I32, 0, ends, (void *)5, &e);
  ff_send_i32(&e, 0, 7);
  stacks_switch(&e, FF_I32, 1);
  return e.ref == 0 && e.types == FF_I32 ? e.values[0].i32 : -1;
}

// --- all types, two of them bound

static ff_types echo(ff_fiber self, void *env, ff_event *e) {
  (void)self, (void)env;
  ff_event back;
  if (!are_all(e, 42)) return 0;
  send_all(&back, 0, 42)->ref = e->ref;
  stacks_switch(&back, 0, 0);
  back.types = 0;
  stacks_switch_retire(&back);
}

EXPORT("values") int values(void) {
  ff_event e, part;
  send_all(&e, 0, 42);
  ff_types types = e.types;
  stacks_new(types, 0, echo, 0, &e);
  part.ref = e.ref;
  for (int i = 0; i < 3; i++) {
    part.types = types >> 4 * i & 15;
    part.values[0] = e.values[i];
    stacks_bind(&part);
  }
  e.ref = part.ref;
  e.types = types >> 12;
  for (int i = 0; i < 3; i++) e.values[i] = e.values[i + 3];
  stacks_switch(&e, types, 0);
  if (!are_all(&e, 42)) return 1;
  e.types = 0;
  stacks_switch(&e, 0, 1);
  return e.ref == 0 ? 0 : 2;
}

// --- coroutines in a ring: the first reference is to the entry

static unsigned long long ring[3];

static ff_types runner(ff_fiber self, void *env, ff_event *e) {
  (void)self;
  int i = (int)env;
  for (;;) {
    ring[i] = e->ref;
    note(i);
    if (e->values[0].i32 == 0) {
      e->ref = ring[0];  // the entry
      stacks_switch(e, FF_I32, 1);
    } else {
      e->values[0].i32--;
      stacks_new(FF_I32, 0, runner, (void *)(i + 1), e);
      e->types = FF_I32;
      stacks_switch(e, FF_I32, 1);
    }
  }
}

EXPORT("ring") int in_a_ring(void) {
  ff_event e;
  stacks_new(FF_I32, 0, runner, 0, &e);
  ff_send_i32(&e, 0, 2);
  stacks_switch(&e, FF_I32, 1);
  return e.values[0].i32;
}

// --- return_switch: what `then` returns is what the function returns

static ff_types then(ff_fiber self, void *env, ff_event *e) {
  (void)self;
  note(e->values[0].i32);
  e->values[0].i32 += (int)env;
  return FF_I32;
}

static ff_types tail(ff_event *e) { return ff_return_switch(e, FF_I32, 1, then, (void *)10); }

EXPORT("return_switch") int return_switch(void) {
  ff_event e;
  stacks_new(FF_I32, 0, ends, (void *)5, &e);
  ff_send_i32(&e, 0, 1);
  return tail(&e) == FF_I32 ? e.values[0].i32 : -1;
}

// --- exceptions: thrown at the entry, which lets them out

static ff_types thrower(ff_fiber self, void *how, ff_event *e) {
  (void)self;
  if (how) stacks_return_switch_throw(e, raise, (void *)6, 0, 0);
  stacks_switch_throw(e, raise, (void *)5, 0, 0);
  return 0;
}

EXPORT("throws") void throws(int how) {
  ff_event e;
  stacks_new(0, 0, thrower, (void *)how, &e);
  ff_send(&e, 0);
  stacks_switch(&e, 0, 1);
  note(99);
}

static ff_types returns(ff_fiber self, void *how, ff_event *e) {
  (void)self, (void)e;
  if (how) fail(1);
  return 0;
}

static int in_host(int unused) {
  (void)unused;
  return new(0);
}

EXPORT("refused") int refused(int which) {
  ff_event e;
  stacks_new(FF_I32, 0, ends, (void *)5, &e);
  ff_stack fresh = e.ref;
  ff_send_i32(&e, 0, 1);
  switch (which) {
    case 0: e.ref = 0; stacks_switch(&e, FF_I32, 1); break;
    case 1: stacks_switch(&e, FF_I32, 1); e.ref = fresh; stacks_switch(&e, FF_I32, 1); break;
    case 2: e.types = FF_F64; stacks_switch(&e, FF_I32, 1); break;
    case 3: stacks_switch_retire(&e); break;
    case 4: stacks_new_ref(0, 0, 0, 0, &e); break;
    case 5: stacks_new(0, 0, 0, 0, &e); break;
    case 6: e.ref ^= 1ull << 40; stacks_bind(&e); break;
    case 7: stacks_switch_throw(&e, raise, (void *)1, 0, 0); break;
    case 8:
    case 9: stacks_new(0, 0, returns, (void *)(which - 8), &e); ff_send(&e, 0); stacks_switch(&e, 0, 1); break;
    case 10: call(in_host, 0); break;
    case 11: e.ref = 0; stacks_return_switch(&e, 0, 0); break;
    case 12: stacks_switch_throw(&e, 0, 0, 0, 0); break;
  }
  return 1;
}

// --- below a frame of the host: an operation that traps before it could be refused

static void traps(void *env) {
  (void)env;
  __builtin_trap();
}

static int throws_in_host(int unused) {
  ff_event e;
  stacks_new(0, 0, thrower, 0, &e);
  stacks_switch_throw(&e, traps, 0, 0, 0);
  return unused;
}

EXPORT("survives") int survives(void) {
  call(throws_in_host, 0);
  return new(0);
}
