// The generator by fibers v2. The document still has this program in the terms of v1.

#include "scenario.h"

enum { MOUNT_NEXT, YIELDED, ENDED, MOUNT_GO_AHEAD, FELL_THROUGH };  // for tell

static ff_tag yield, next, end, go_ahead;
static ff_table on_next, on_element;
enum { ON_NEXT };
enum { ON_YIELD, ON_END };

EXPORT("_initialize") void initialize(void) {
  yield = fibers2_tag(FF_I32);
  next = fibers2_tag(0);
  end = fibers2_tag(0);
  go_ahead = fibers2_tag(0);
  on_next = fibers2_table(&next, 1);
  on_element = fibers2_table((ff_tag[]){yield, end}, 2);
}

// The generator is made suspended, so it need not identify itself. Its return is the event end.
static ff_types arrayGenerator(ff_fiber thisTask, void *env, ff_event *e) {
  array a = *(const array *)env;
  for (int ix = 0; ix < a.count; ix++)
    if (fibers2_dismount(thisTask, ff_send_i32(e, yield, a.els[ix]), on_next) != ON_NEXT) __builtin_trap();
  return 0;
}

static ff_fiber generator;  // the last one
static array of;            // its elements

EXPORT("newGenerator") void newGenerator(const int *els, int count) {
  of = (array){els, count};
  generator = fibers2_new(end, on_next, arrayGenerator, &of);
}

// Adds up the elements that the last generator yields.
EXPORT("addElements") int addElements(void) {
  int total = 0;
  ff_event e;
  while (1) {
    tell(0, MOUNT_NEXT, 0);
    switch (fibers2_mount(generator, ff_send(&e, next), on_element)) {
      case ON_YIELD:
        tell(0, YIELDED, e.values[0].i32);
        total = (int)((unsigned)total + (unsigned)e.values[0].i32);
        continue;
      case ON_END:
        tell(0, ENDED, 0);
        return total;
      default: __builtin_trap();  // the mount has fallen through
    }
  }
}

EXPORT("addAllElements") int addAllElements(const int *els, int count) {
  newGenerator(els, count);
  return addElements();
}

// Mounts the last generator with an event that it does not take: nothing happens, and execution continues.
EXPORT("mountGoAhead") void mountGoAhead(void) {
  ff_event e;
  tell(0, MOUNT_GO_AHEAD, 0);
  if (fibers2_mount(generator, ff_send(&e, go_ahead), on_element) == FF_NEXT && e.tag == 0) tell(0, FELL_THROUGH, 0);
}
