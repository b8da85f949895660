// A tree of schedulers by fibers v1. A leaf that waits for a request suspends. When all children of a scheduler wait,
// the scheduler suspends with all their requests, its composite promise. The root pauses the whole program. At each
// completion the root enters the child that waits for it, that child enters its own child, and so on down to the leaf.
// No other fiber is entered.
//
// Here a request is a timer, and the root waits only for the earliest one. So a composite is a set of bits.

#include "scenario.h"

IMPORT("fiberfill", "sleep_ms") void sleep_ms(int ms);

enum { ENTERS, REQUESTS, YIELDS, DONE, FAILED, PAUSES, WAKES };  // for tell

static ff_tag go_ahead, io_notify, async_request;
static ff_table on_start, on_notify, on_request;
enum { ON_REQUEST };

EXPORT("_initialize") void initialize(void) {
  go_ahead = fibers1_tag(0);
  io_notify = fibers1_tag(FF_TYPES(FF_I32, FF_I32));
  async_request = fibers1_tag(FF_I32);
  on_start = fibers1_table(&go_ahead, 1);
  on_notify = fibers1_table(&io_notify, 1);
  on_request = fibers1_table(&async_request, 1);
}

// Given by the host: the index of the node's scheduler, negative for the root; and how long the node's request takes,
// negative if it then fails, 0 if the node is a scheduler.
typedef struct node {
  int parent, ms;
} node;

static const node *nodes;
static int count, now;
static ff_fiber fibers[32];
static unsigned waits[32];  // the requests that each node waits for
static int deadlines[32];

// Enters a child, and records what it waits for then; nothing if it is over.
static void enter(int who, int child, ff_event *e) {
  tell(who, ENTERS, child);
  waits[child] = fibers1_resume(fibers[child], e, on_request) == ON_REQUEST ? (unsigned)e->values[0].i32 : 0;
}

// The payload of io_notify: the requests that are complete, and which of them have failed.
typedef struct completion {
  unsigned requests, failed;
} completion;

static ff_event *notify(ff_event *e, completion c, unsigned of) {
  ff_send(e, io_notify)->types = FF_TYPES(FF_I32, FF_I32);
  e->values[0].i32 = (int)(c.requests & of);
  e->values[1].i32 = (int)(c.failed & of);
  return e;
}

static completion notified(const ff_event *e) {
  return (completion){(unsigned)e->values[0].i32, (unsigned)e->values[1].i32};
}

// Sleeps until the earliest of the requests is complete. This is the only wait of the program.
static completion pause(unsigned requests) {
  int earliest = 0x7fffffff;
  completion c = {0, 0};
  for (int i = 0; i < count; i++)
    if (requests >> i & 1 && deadlines[i] < earliest) earliest = deadlines[i];
  tell(0, PAUSES, now);
  sleep_ms(earliest - now);
  now = earliest;
  tell(0, WAKES, now);
  for (int i = 0; i < count; i++) {
    if (!(requests >> i & 1) || deadlines[i] > now) continue;
    c.requests |= 1u << i;
    if (nodes[i].ms < 0) c.failed |= 1u << i;
  }
  return c;
}

static void schedule(int who, ff_fiber self) {
  ff_event e;
  for (int i = 0; i < count; i++)
    if (nodes[i].parent == who) enter(who, i, ff_send(&e, go_ahead));
  while (1) {
    unsigned requests = 0;
    for (int i = 0; i < count; i++)
      if (nodes[i].parent == who) requests |= waits[i];
    if (requests == 0) return;  // all children are over
    completion complete;
    if (self) {
      tell(who, YIELDS, 0);
      fibers1_suspend(self, ff_send_i32(&e, async_request, (int)requests), on_notify);
      complete = notified(&e);
    } else {
      complete = pause(requests);
    }
    for (int i = 0; i < count; i++)
      if (nodes[i].parent == who && waits[i] & complete.requests) enter(who, i, notify(&e, complete, waits[i]));
  }
}

static ff_types scheduler(ff_fiber self, void *who, ff_event *e) {
  (void)e;
  schedule((int)who, self);
  tell((int)who, DONE, 0);
  return 0;
}

static ff_types leaf(ff_fiber self, void *env, ff_event *e) {
  int who = (int)env, ms = nodes[who].ms;
  tell(who, REQUESTS, 0);
  deadlines[who] = now + (ms < 0 ? -ms : ms);
  fibers1_suspend(self, ff_send_i32(e, async_request, 1 << who), on_notify);
  tell(who, notified(e).failed ? FAILED : DONE, 0);
  return 0;
}

// Runs the tree whose first node is the root. Returns when all nodes are over.
EXPORT("run") int run(const node *of, int n) {
  nodes = of;
  count = n;
  now = 0;
  for (int i = 1; i < n; i++) fibers[i] = fibers1_new(0, on_start, nodes[i].ms ? leaf : scheduler, (void *)i);
  schedule(0, 0);
  return now;
}
