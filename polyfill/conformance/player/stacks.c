// stacks of the player: coroutines by single-use references.

#include "tokens.h"

void reset(void) { tokens = computations = 0; }

ff_tag make_tag(ff_types params, ff_types results) {
  (void)params, (void)results;
  return 0;
}

static ff_types body(ff_fiber self, void *env, ff_event *e) {
  (void)self;
  const struct made *m = env;
  struct frame f = {m->who, 0, 0};
  struct outcome *o = record(STARTED, f.who);
  o->ref = token(e->ref);
  fill(o, e);
  return loop(&f, e);
}

struct waiting {
  const struct op *op;
  ff_event *e;
};

static void act(void *env) {
  struct waiting *w = env;
  const struct op *op = w->op;
  ff_types types = types_of(op->wants);
  int number = op->n;
  switch (op->code) {
    case SWITCH: stacks_switch(w->e, types, op->maybe); break;
    case RETURN_SWITCH: stacks_return_switch(w->e, types, op->maybe); break;
    case SWITCH_THROW: stacks_switch_throw(w->e, raise, &number, types, op->maybe); break;
    case RETURN_SWITCH_THROW: stacks_return_switch_throw(w->e, raise, &number, types, op->maybe); break;
  }
}

// Performs an operation that waits. Notes the reference to a thrower and throws its exception on.
static void wait(struct frame *f, const struct op *op, ff_event *e) {
  struct waiting w = {op, e};
  int n;
  if (try_call(act, &w, &n)) {
    thrower = e->ref;
    throw_number(n);
  }
  struct outcome *o = record(RETURNED, f->who);
  o->ref = token(e->ref);
  fill(o, e);
}

static struct made *new_body(void) { return new_made(computations, 0, 0); }

void perform(struct frame *f, const struct op *op) {
  ff_event e;
  send(&e, op)->ref = reference(op->a);
  switch (op->code) {
    case NEW: stacks_new(types_of(op->wants), op->maybe, body, new_body(), &e); break;
    case NEW_REF: stacks_new_ref(types_of(op->wants), op->maybe, op->a == NONE ? 0 : body, new_body(), &e); break;
    case BIND:
      stacks_bind(&e);
      record(MADE, f->who)->ref = token(e.ref);
      return;
    case SWITCH_RETIRE: stacks_switch_retire(&e);
    default: wait(f, op, &e); return;
  }
  computations++;
  record(MADE, f->who)->ref = token(e.ref);
}

// What goes on in the place of the frame that return_switch has left.
static ff_types then(ff_fiber self, void *env, ff_event *e) {
  (void)self;
  struct frame f = *(struct frame *)env;
  f.handles = 0;
  return loop(&f, e);
}

ff_types return_switch(struct frame *f, const struct op *op, ff_event *e) {
  send(e, op)->ref = reference(op->a);
  wait(f, op, e);
  return then(0, f, e);
}
