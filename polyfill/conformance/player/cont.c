// cont of the player: cont by stack inspection.

#include "tokens.h"

enum { MAX_EVENTS = 1024 };

static ff_event events[MAX_EVENTS];  // the evtrefs, by number
static int evts;

void reset(void) { tokens = computations = evts = 0; }

ff_tag make_tag(ff_types params, ff_types results) { return cont_event(params, results); }

static ff_event evt(i8 n) {
  ff_event none = {.tag = 0};
  return n >= 0 && n < evts ? events[n] : none;
}

static ff_types body(ff_fiber self, void *env, ff_event *e) {
  (void)self;
  const struct made *m = env;
  struct frame f = {m->who, m->gives, 0};
  fill(record(STARTED, f.who), e);
  return loop(&f, e);
}

// The filter of resume: the events whose first value is of the payload number.
static int admits(void *env, const ff_event *e) {
  if (!e->types) return 0;
  ff_event as;
  i16 n = ((const struct op *)env)->admits;
  long long first = e->values[0].i64;
  switch (e->types & 15) {
    case FF_I32: return (int)first == n;
    case FF_I64: return first == n * (1ll << 32) + n;
    case FF_F32: as.values[0].f32 = n + 0.5f; return (int)first == as.values[0].i32;
    case FF_F64: as.values[0].f64 = n - 0.25; return first == as.values[0].i64;
    case FF_REF: return first == (unsigned short)n;
  }
  return first == 0;
}

// Records the results or the event that have come.
static void arrive(struct frame *f, const ff_event *e) {
  struct outcome *o = record(e->tag ? TAKEN : RETURNED, f->who);
  if (e->tag) {
    if (evts == MAX_EVENTS) __builtin_trap();
    o->tag = number_of(e->tag);
    o->ref = evts;
    events[evts++] = *e;
  }
  fill(o, e);
}

void perform(struct frame *f, const struct op *op) {
  ff_tag list[18];
  ff_table on = cont_table(list, tags_of(op, list));
  ff_event e;
  send(&e, op)->ref = reference(op->a);
  int number = op->n;
  switch (op->code) {
    case NEW:
      cont_new(e.types, types_of(op->gives), op->a == NONE ? 0 : body, new_made(computations, op->gives, 0), &e);
      computations++;
      record(MADE, f->who)->ref = token(e.ref);
      return;
    case BR_ON_EVT: {
      e = evt(op->a);
      if (!cont_br_on_evt(&e, tag(op->tag))) {
        record(NO_MATCH, f->who);
        return;
      }
      struct outcome *o = record(TAKEN, f->who);
      o->label = NONE;
      o->tag = op->tag;
      o->ref = token(e.ref);
      fill(o, &e);
      return;
    }
    case RESUME: cont_resume(&e, on, op->admits ? admits : 0, (void *)op); break;
    case SUSPEND: cont_suspend(&e); break;
    case FORWARD:
      e = evt(op->a);
      cont_forward(&e, on, 0, 0);
      break;
    case THROW_INTO: cont_throw(&e, raise, &number); break;
  }
  arrive(f, &e);
}

ff_types return_switch(struct frame *f, const struct op *op, ff_event *e) {
  (void)f, (void)op, (void)e;
  __builtin_trap();
}
