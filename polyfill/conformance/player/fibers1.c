// fibers1 of the player: fibers v1.

#include "fibers.h"

// A handle of a function: event blocks around the instructions inside of it.
struct handle {
  struct handle *outer;
  int count;
  ff_tag tags[18];
};

enum { MAX_HANDLES = 1024 };

static struct handle pool[MAX_HANDLES];
static int handles;

ff_tag make_tag(ff_types params, ff_types results) {
  (void)results;
  handles = 0;
  return fibers1_tag(params);
}

static struct handle *new_handle(struct handle *outer, const struct op *op) {
  if (handles == MAX_HANDLES) __builtin_trap();
  struct handle *h = &pool[handles++];
  h->outer = outer;
  h->count = tags_of(op, h->tags);
  return h;
}

// The list of tags that an instruction directly inside of h takes: of its handles, from the innermost out (A-HDL-2).
static ff_table table(const struct handle *h) {
  ff_tag list[256];
  int n = 0;
  for (; h; h = h->outer)
    for (int i = 0; i < h->count; i++)
      if (n < 256) list[n++] = h->tags[i];
  return fibers1_table(list, n);
}

// Records what has arrived. own is the operation's own handle, which is left at once: what follows stands behind it. An
// event that a handle around it has taken leaves those inside of that one (A-HDL-6).
static void arrive(struct frame *f, struct handle *own, const ff_event *e) {
  struct outcome *o = record(e->tag ? TAKEN : RETURNED, f->who);
  fill_event(o, e);
  int label = e->label;
  if (!e->tag || label < own->count) return;
  struct handle *h = own;
  for (; label >= h->count; h = h->outer) label -= h->count;
  f->handles = h;
}

void perform(struct frame *f, const struct op *op) {
  ff_fiber a = fiber(op->a), b = fiber(op->b);
  ff_event e;
  send(&e, op);
  switch (op->code) {
    case NEW: {
      struct handle start = {0, 0, {0}};
      start.count = tags_of(op, start.tags);
      ff_fiber n = fibers1_new(types_of(op->gives), table(&start), body, new_made(0, op->gives, op->n));
      record(MADE, f->who)->ref = number(n);
      return;
    }
    case HANDLE:
      f->handles = new_handle(f->handles, op);
      record(FELL, f->who);
      return;
    case END:
      if (f->handles) f->handles = f->handles->outer;
      record(FELL, f->who);
      return;
    case RELEASE:
      fibers1_release(a);
      record(FELL, f->who);
      return;
    case RETIRE: fibers1_retire(a, &e);
    case RETIRETO: fibers1_retireto(a, b, &e);
  }
  struct handle *own = new_handle(f->handles, op);
  ff_table on = table(own);
  switch (op->code) {
    case SPAWN: fibers1_spawn(types_of(op->gives), body, new_made(0, op->gives, op->n), &e, on); break;
    case SUSPEND: fibers1_suspend(a, &e, on); break;
    case RESUME: fibers1_resume(a, &e, on); break;
    case SWITCH: fibers1_switch(a, b, &e, on); break;
  }
  arrive(f, own, &e);
}
