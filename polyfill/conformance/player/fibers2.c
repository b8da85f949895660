// fibers2 of the player: fibers v2.

#include "fibers.h"

ff_tag make_tag(ff_types params, ff_types results) {
  (void)results;
  return fibers2_tag(params);
}

// The signature of the results of a function whose return event is the tag.
static int results_by(int tag) { return tag < 0 ? 0 : params_of(tag); }

void perform(struct frame *f, const struct op *op) {
  ff_fiber a = fiber(op->a), b = fiber(op->b);
  ff_tag list[18];
  ff_table on = fibers2_table(list, tags_of(op, list));
  ff_event e;
  send(&e, op);
  int made = 0;
  switch (op->code) {
    case NEW: {
      ff_fiber n = fibers2_new(tag(op->tag), on, body, new_made(0, results_by(op->tag), op->n));
      record(MADE, f->who)->ref = number(n);
      return;
    }
    case MOUNT_NEW:
    case SWITCH_NEW: {
      made = 1;
      struct made *m = new_made(0, op->count ? results_by(op->on[0]) : 0, op->n);
      if (op->code == MOUNT_NEW) fibers2_mount_new(body, m, &e, on);
      else fibers2_switch_new(a, body, m, &e, on);
      if (e.tag) e.label--;  // the first tag of the list is the immediate of the instruction, not one of its handlers
      break;
    }
    case MOUNT: fibers2_mount(a, &e, on); break;
    case SWITCH: fibers2_switch(a, b, &e, on); break;
    case DISMOUNT: fibers2_dismount(a, &e, on); break;
    case RELEASE: fibers2_release(a); e.tag = 0; break;
    case DISMOUNT_RELEASE: fibers2_dismount_release(a, &e); break;
    case SWITCH_RELEASE: fibers2_switch_release(a, b, &e); break;
  }
  struct outcome *o = record(e.tag ? TAKEN : made ? RETURNED : FELL, f->who);
  if (made) o->ref = number(e.fiber);
  if (o->kind != FELL) fill_event(o, &e);
}
