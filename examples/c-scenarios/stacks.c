// Generators, fibers and arenas by single-use stack references: the document's programs, corrected, in C.

#include "scenario.h"

enum { SWITCH, BIND, YIELDED, ENDED, RESUME, PAUSED, CANCEL, TERMINATED };  // for tell

// The types of the stacks. A type is what a coroutine awaits: values, and whether the reference beside them may be
// null.
#define TO_CONSUMER FF_I32, 1   // (type $toConsumer (stack (param $val i32) (param (ref null $toGenerator))))
#define TO_GENERATOR 0, 0       // (type $toGenerator (stack (param (ref $toConsumer))))
#define FINISH_INIT 0, 0        // (type $finishInit (stack (param (ref $toGenerator))))
// from, to and els, and (ref $finishInit) or (ref $toConsumer)
#define INIT_ARRAY_GEN FF_TYPES(FF_I32, FF_I32, FF_I32), 0

// --- a generator

// e->ref is $toConsumer, and a new reference after each switch.
static void yieldElements(int from, int to, const int *els, ff_event *e) {
  for (; from < to; from++) {
    ff_send_i32(e, 0, els[from]);
    stacks_switch(e, TO_GENERATOR);
  }
  stacks_switch_retire(ff_send_i32(e, 0, 0));  // a dummy value
}

static ff_types arrayGenerator(ff_fiber none, void *env, ff_event *e) {
  (void)none, (void)env;
  int from = e->values[0].i32, to = e->values[1].i32;
  const int *els = (const int *)(unsigned long)e->values[2].i32;
  e->types = 0;
  stacks_switch(e, TO_GENERATOR);  // back to the consumer: from, to and els are initialised
  yieldElements(from, to, els, e);
  return 0;
}

// A generator with bound arguments: its first switch asks for an element.
static ff_types boundGenerator(ff_fiber none, void *env, ff_event *e) {
  (void)none, (void)env;
  yieldElements(e->values[0].i32, e->values[1].i32, (const int *)(unsigned long)e->values[2].i32, e);
  return 0;
}

static void newGenerator(ff_body *body, int from, int to, const int *els, ff_event *e) {
  stacks_new(INIT_ARRAY_GEN, body, 0, e);
  e->types = FF_TYPES(FF_I32, FF_I32, FF_I32);
  e->values[0].i32 = from;
  e->values[1].i32 = to;
  e->values[2].i32 = (int)(unsigned long)els;
}

static ff_stack last;  // the last reference to a generator, used up by the generator's end

static int addElements(ff_event *e) {  // e->ref is $toGenerator
  int total = 0;
  while (1) {
    last = e->ref;
    e->types = 0;
    tell(0, SWITCH, 0);
    stacks_switch(e, TO_CONSUMER);
    if (e->ref == 0) {  // br_on_null $on-end
      tell(0, ENDED, 0);
      return total;
    }
    tell(0, YIELDED, e->values[0].i32);
    total += e->values[0].i32;
  }
}

// (func $addAllElements (param $from i32) (param $to i32) (param $els i32) (result i32)
EXPORT("addAllElements") int addAllElements(int from, int to, const int *els) {
  ff_event e;
  newGenerator(arrayGenerator, from, to, els, &e);
  tell(0, SWITCH, 0);
  stacks_switch(&e, FINISH_INIT);
  return addElements(&e);
}

// The same with stack.bind.
EXPORT("addAllBound") int addAllBound(int from, int to, const int *els) {
  ff_event e;
  newGenerator(boundGenerator, from, to, els, &e);
  tell(0, BIND, 0);
  stacks_bind(&e);
  return addElements(&e);
}

EXPORT("switchAgain") void switchAgain(void) {
  ff_event e;
  ff_send(&e, 0)->ref = last;
  stacks_switch(&e, TO_CONSUMER);
}

// --- fibers in an arena

enum { pause, terminate };  // fbrCmd, with a total
enum { resume, cancel };    // arenaCmd

// (type $sched (stack (param i32) (ref $fbr))): a fiber awaits a command
#define SCHED FF_I32, 0
// (type $fbr (stack (param i32) (param i32) (ref null $sched))): the arena awaits a total and a code
#define FBR FF_TYPES(FF_I32, FF_I32), 1

// (type $fiber (struct (field $stack mut (ref null $fiberCont)) (field $arena (ref $arena)))): a fiber's stack is null
// while the fiber runs, and when it is over. The arena's stack is null while the arena runs.
typedef struct fiber {
  ff_stack stack;
  struct fiber *arena;
  array segment;
} fiber;

static fiber arena, fibers[64];
static int made;

static ff_event *report(fiber *f, int total, int code, ff_event *e) {
  e->types = FF_TYPES(FF_I32, FF_I32);
  e->values[0].i32 = total;
  e->values[1].i32 = code;
  e->ref = f->arena->stack;
  f->arena->stack = 0;
  return e;
}

// Switches to the arena. Returns the arena's next command.
static int pauseFiber(fiber *f, int total) {
  ff_event e;
  stacks_switch(report(f, total, pause, &e), SCHED);
  f->arena->stack = e.ref;
  return e.values[0].i32;
}

// An adder sends its generator (type $genCmd (stack (param i32) (ref $genResp))), and gets back an element and whether
// there is one. A command can also be #cancel, which a null reference cannot express. Without it, the generator of a
// cancelled adder would be left behind.
enum { genNext, genCancel };
#define GEN_CMD FF_I32, 0
#define GEN_RESP FF_I32, 1

static ff_types segmentGenerator(ff_fiber none, void *env, ff_event *e) {
  (void)none;
  const array *segment = env;
  for (int ix = 0; ix < segment->count && e->values[0].i32 == genNext; ix++) {
    ff_send_i32(e, 0, segment->els[ix]);
    stacks_switch(e, GEN_CMD);
  }
  stacks_switch_retire(ff_send_i32(e, 0, 0));
}

static void ask(ff_stack *generator, int cmd, ff_event *e) {
  ff_send_i32(e, 0, cmd)->ref = *generator;
  stacks_switch(e, GEN_RESP);
  *generator = e->ref;
}

// (func $adderFiber (param $arena (ref $fiber)) (param $els i32) (param $from i32) (param $to i32)
static ff_types adderFiber(ff_fiber none, void *env, ff_event *e) {
  (void)none;
  fiber *this = env;
  int cmd = e->values[0].i32, total = 0;
  this->arena->stack = e->ref;
  stacks_new(GEN_CMD, segmentGenerator, &this->segment, e);
  ff_stack generator = e->ref;
  while (cmd == resume) {
    ask(&generator, genNext, e);
    if (generator == 0) break;
    total += e->values[0].i32;
    cmd = pauseFiber(this, total);
  }
  if (generator) ask(&generator, genCancel, e);
  stacks_switch_retire(report(this, total, terminate, e));
}

EXPORT("newFiber") int newFiber(const int *els, int count) {
  ff_event e;
  fibers[made] = (fiber){0, &arena, {els, count}};
  stacks_new(SCHED, adderFiber, &fibers[made], &e);
  fibers[made].stack = e.ref;
  return made++;
}

// Sends fiber ix a command and stores its new reference, null if the fiber is over. Returns its code; its total is in
// *total.
static int command(int ix, int cmd, int *total) {
  ff_event e;
  tell(ix, cmd == resume ? RESUME : CANCEL, 0);
  ff_send_i32(&e, 0, cmd)->ref = fibers[ix].stack;
  fibers[ix].stack = 0;
  stacks_switch(&e, FBR);
  if (fibers[ix].stack != 0 || arena.stack != 0) __builtin_trap();  // another fiber runs, and holds a reference
  fibers[ix].stack = e.ref;
  *total = e.values[0].i32;
  int code = e.values[1].i32;
  tell(ix, code == pause ? PAUSED : TERMINATED, *total);
  if ((code == terminate) != (e.ref == 0)) __builtin_trap();
  return code;
}

// (func $cancelingArena (param $fibers (ref $fiberArray)): the index of the first fiber, and how many
EXPORT("cancelingArena") int cancelingArena(int first, int len) {
  int total, other;
  if (len <= 0) __builtin_trap();
  for (int ix = first;; ix = ix + 1 < first + len ? ix + 1 : first) {
    if (command(ix, resume, &total) == pause) continue;
    for (int jx = first; jx < first + len; jx++)
      if (jx != ix && command(jx, cancel, &other) == pause) __builtin_trap();
    return total;
  }
}

// How many fibers have a stack.
EXPORT("stacksLeft") int stacksLeft(void) {
  int n = arena.stack != 0;
  for (int ix = 0; ix < made; ix++) n += fibers[ix].stack != 0;
  return n;
}
