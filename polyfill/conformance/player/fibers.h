// fibers.h: what fibers1 and fibers2 have in common: stable references, one a fiber.

#include "player.h"

enum { MAX_FIBERS = 1024 };

static ff_fiber known[MAX_FIBERS];
static int fibers;

void reset(void) { fibers = 0; }

// A reference that no machine hands out: its slot does not exist.
static const ff_fiber fake = (1 << 22) - 1;

static ff_fiber fiber(i8 n) { return n == FAKE ? fake : n >= 0 && n < fibers ? known[n] : 0; }

// The number of a fiber, which it gets when it is seen first.
static int number(ff_fiber f) {
  for (int i = 0; i < fibers; i++)
    if (known[i] == f) return i;
  if (fibers == MAX_FIBERS) __builtin_trap();
  known[fibers] = f;
  return fibers++;
}

int reference_value(i16 n, unsigned long long *bits) {
  *bits = fiber((i8)n);
  return *bits ? FF_REF : FF_NULLREF;
}

unsigned long long reference_number(unsigned long long bits) {
  for (int i = 0; i < fibers; i++)
    if (known[i] == bits) return i;
  return bits;
}

static void fill_event(struct outcome *o, const ff_event *e) {
  fill(o, e);
  o->label = e->tag ? e->label : 0;
  o->tag = number_of(e->tag);
}

static ff_types body(ff_fiber self, void *env, ff_event *e) {
  const struct made *m = env;
  struct frame f = {number(self), m->gives, 0};
  struct outcome *o = record(STARTED, f.who);
  o->n = m->n;
  fill_event(o, e);
  return loop(&f, e);
}

ff_types return_switch(struct frame *f, const struct op *op, ff_event *e) {
  (void)f, (void)op, (void)e;
  __builtin_trap();
}

int token(unsigned long long ref) {
  (void)ref;
  return NONE;
}
