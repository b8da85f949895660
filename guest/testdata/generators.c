// A guest in C with fibers of fibers1: generators that live as long as they are wanted, wait inside a fiber, trap, and
// use up their stacks. It has no C library and no allocator.

#include "../../include/fiberfill.h"

#define EXPORT(name) __attribute__((export_name(name)))
#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))

IMPORT("env", "fetch_text") int fetch_text(const char *url, int url_len, char *buf, int cap);
IMPORT("fiberfill", "sleep_ms") void sleep_ms(int ms);

static ff_tag yield, next;
static ff_table on_yield, on_next;

EXPORT("_initialize") void initialize(void) {
  yield = fibers1_tag(FF_TYPES(FF_I32));
  next = fibers1_tag(0);
  on_yield = fibers1_table(&yield, 1);
  on_next = fibers1_table(&next, 1);
}

static void give(ff_fiber self, int value) {
  ff_event e;
  fibers1_suspend(self, ff_send_i32(&e, yield, value), on_next);
}

// What a generator yields next; -1: it has returned.
static int take(ff_fiber generator) {
  ff_event e;
  return fibers1_resume(generator, ff_send(&e, next), on_yield) == FF_NEXT ? -1 : e.values[0].i32;
}

static ff_types count_down(ff_fiber self, void *from, ff_event *e) {
  (void)e;
  for (int i = (int)from; i > 0; i--) give(self, i);
  return 0;
}

static ff_fiber counter(int from) { return fibers1_new(0, on_next, count_down, (void *)from); }

// from + ... + 2 + 1.
EXPORT("sum") int sum(int from) {
  ff_fiber g = counter(from);
  int total = 0, value;
  while ((value = take(g)) >= 0) total += value;
  return total;
}

// A generator that outlives the call: begin makes it, and each call of more resumes it.
static ff_fiber kept;
EXPORT("begin") void begin(int from) { kept = counter(from); }
EXPORT("more") int more(void) { return take(kept); }

// n generators that have begun, and are released; 0.
EXPORT("many") int many(int n) {
  for (int i = 0; i < n; i++) {
    ff_fiber g = counter(3);
    if (take(g) != 3) return -1;
    fibers1_release(g);
  }
  return 0;
}

struct url {
  const char *text;
  int length;
};

// Yields the length of what it reads at a URL, again and again.
static ff_types reader(ff_fiber self, void *env, ff_event *e) {
  (void)e;
  const struct url *url = env;
  for (;;) {
    char body[64];
    give(self, fetch_text(url->text, url->length, body, sizeof body));
  }
}

// Yields the sum of two that it has from a fiber of its own.
static ff_types middle(ff_fiber self, void *env, ff_event *e) {
  (void)e;
  ff_fiber r = fibers1_new(0, on_next, reader, env);
  int first = take(r);
  give(self, first + take(r));
  fibers1_release(r);
  return 0;
}

// Twice the length of what is at a URL, fetched twice, two fibers down.
EXPORT("twice") int twice(const char *url, int length) {
  struct url u = {url, length};
  ff_fiber m = fibers1_new(0, on_next, middle, &u);
  int value = take(m);
  return take(m) == -1 ? value : -2;
}

static ff_types sleeper(ff_fiber self, void *ms, ff_event *e) {
  (void)self, (void)e;
  sleep_ms((int)ms);
  return 0;
}

// Sleeps in a fiber, and returns which call of it this is.
static int calls;
EXPORT("nap") int nap(int ms) {
  int before = calls;
  take(fibers1_new(0, on_next, sleeper, (void *)ms));
  return before == calls ? ++calls : -1;  // -1: another call ran meanwhile
}

// Traps in a fiber in a fiber.
static ff_types trapper(ff_fiber self, void *deep, ff_event *e) {
  (void)self, (void)e;
  if (deep) take(fibers1_new(0, on_next, trapper, 0));
  __builtin_trap();
}
EXPORT("trap") void trap(void) { take(fibers1_new(0, on_next, trapper, (void *)1)); }

// Resumes a fiber that is over.
EXPORT("over") int over(void) {
  ff_fiber g = counter(0);
  take(g);
  return take(g);
}

// Takes so many kilobytes of shadow stack in a fiber, and yields there.
__attribute__((noinline)) static int recurse(ff_fiber self, int depth) {
  volatile char room[1024];
  for (int i = 0; i < 1024; i++) room[i] = depth;
  if (depth > 1) return recurse(self, depth - 1) + room[0];
  give(self, 1);
  return room[0];
}
static ff_types digger(ff_fiber self, void *depth, ff_event *e) {
  (void)e;
  recurse(self, (int)depth);
  return 0;
}
EXPORT("dig") int dig(int kilobytes) {
  ff_fiber d = fibers1_new(0, on_next, digger, (void *)kilobytes);
  return take(d) == 1 && take(d) == -1;
}
