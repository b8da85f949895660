// Generators, threads and arenas by fibers v1: the document's programs, corrected, in C. The comments quote the lines
// of the document's pseudo-code.

#include "scenario.h"

// The events, for tell.
enum { SPAWN, IDENTIFY, NEXT, YIELDED, ENDED, RETURNED, GO_AHEAD, PAUSED, CANCEL_THREAD, FINISHED, ANSWERED };

// The tags, the lists of tags that an instruction takes, and the indices in these lists.
static ff_tag identify, yield, next, end;
static ff_tag go_ahead, cancel_thread, pause_, finish_;
static ff_table on_identify, on_element, on_next, on_command, on_answer;
enum { ON_IDENTIFY };
enum { ON_YIELD, ON_END };
enum { ON_GO_AHEAD, ON_CANCEL_THREAD };
enum { ON_PAUSE, ON_FINISH };

EXPORT("_initialize") void initialize(void) {
  identify = fibers1_tag(FF_REF);
  yield = fibers1_tag(FF_I32);
  next = fibers1_tag(0);
  end = fibers1_tag(0);
  go_ahead = fibers1_tag(0);
  cancel_thread = fibers1_tag(0);
  pause_ = fibers1_tag(0);
  finish_ = fibers1_tag(FF_I32);
  on_identify = fibers1_table(&identify, 1);
  on_element = fibers1_table((ff_tag[]){yield, end}, 2);
  on_next = fibers1_table(&next, 1);
  on_command = fibers1_table((ff_tag[]){go_ahead, cancel_thread}, 2);
  on_answer = fibers1_table((ff_tag[]){pause_, finish_}, 2);
}

// --- a generator

// void generator arrayGenerator(fiber *thisTask, int count, int els[])
static ff_types arrayGenerator(ff_fiber thisTask, void *env, ff_event *e) {
  array a = *(const array *)env;  // copied, because its maker goes on when this fiber identifies itself
  ff_send(e, identify)->types = FF_REF;
  e->values[0].ref = thisTask;
  fibers1_suspend(thisTask, e, on_next);

  for (int ix = 0; ix < a.count; ix++)
    fibers1_suspend(thisTask, ff_send_i32(e, yield, a.els[ix]), on_next);  // thisTask yield els[ix]
  return 0;
}

// The same generator, but it ends with an event instead of returning.
static ff_types endingGenerator(ff_fiber thisTask, void *env, ff_event *e) {
  arrayGenerator(thisTask, env, e);
  fibers1_retire(thisTask, ff_send(e, end));
}

// fiber *generator = arrayGenerator(count, els)
static ff_fiber spawn(ff_body *body, const int *els, int count) {
  array a = {els, count};
  ff_event e;
  switch (fibers1_spawn(0, body, &a, &e, on_identify)) {
    case ON_IDENTIFY: return (ff_fiber)e.values[0].ref;
    default: __builtin_trap();  // it must not return yet
  }
}

static ff_fiber generator;  // the last one, for operations on it after its end

static int addAll(ff_body *body, const int *els, int count) {
  tell(0, SPAWN, 0);
  generator = spawn(body, els, count);
  tell(0, IDENTIFY, 0);
  int total = 0;
  ff_event e;
  while (1) {
    tell(0, NEXT, 0);
    switch (fibers1_resume(generator, ff_send(&e, next), on_element)) {  // switch (generator resume next)
      case ON_YIELD:
        tell(0, YIELDED, e.values[0].i32);
        total = (int)((unsigned)total + (unsigned)e.values[0].i32);
        continue;
      case ON_END:
        tell(0, ENDED, 0);
        return total;
      default:  // the generator has returned
        tell(0, RETURNED, 0);
        return total;
    }
  }
}

// int addAllElements(int count, int els[])
EXPORT("addAllElements") int addAllElements(const int *els, int count) { return addAll(arrayGenerator, els, count); }
EXPORT("addAllUntilEnd") int addAllUntilEnd(const int *els, int count) { return addAll(endingGenerator, els, count); }

// Resumes the last generator, once more.
EXPORT("resumeAgain") void resumeAgain(void) {
  ff_event e;
  fibers1_resume(generator, ff_send(&e, next), on_element);
}

// Sends a generator an event that it does not expect, which traps. The generator keeps its state until it is released.
EXPORT("sendGoAhead") void sendGoAhead(const int *els, int count) {
  ff_event e;
  generator = spawn(arrayGenerator, els, count);
  fibers1_resume(generator, ff_send(&e, go_ahead), on_element);
}

EXPORT("release") void release(void) { fibers1_release(generator); }

// --- threads that add up what a generator yields, and pause after each element

// void fiber adderThread(fiber *thisThread, fiber *generator)
static ff_types adderThread(ff_fiber thisThread, void *env, ff_event *e) {
  ff_fiber generator = (ff_fiber)(unsigned long)env;
  int total = 0;
  if (e->label == ON_CANCEL_THREAD) {  // cancelled before it first ran
    fibers1_release(generator);
    e->values[0].i32 = 0;
    return FF_I32;
  }
  do {
    switch (fibers1_resume(generator, ff_send(e, next), on_element)) {
      case ON_YIELD:
        total += e->values[0].i32;
        fibers1_suspend(thisThread, ff_send(e, pause_), on_command);  // switch (thisThread suspend pause_)
        continue;
      default:  // the end, either way
        fibers1_retire(thisThread, ff_send_i32(e, finish_, total));
    }
  } while (e->label == ON_GO_AHEAD);
  fibers1_release(generator);
  fibers1_retire(thisThread, ff_send_i32(e, finish_, total));
}

static ff_fiber threads[64];  // $task_table
static int made;

// Makes a thread, unstarted, with a generator of its own. Returns its index in threads.
EXPORT("newThread") int newThread(const int *els, int count) {
  ff_fiber generator = spawn(arrayGenerator, els, count);
  threads[made] = fibers1_new(FF_I32, on_command, adderThread, (void *)(unsigned long)generator);
  return made++;
}

// Sends a thread a command. Returns the index of its answer in on_answer, or FF_NEXT; the total is in *e.
static int command(int ix, ff_tag tag, ff_event *e) {
  tell(ix, tag == go_ahead ? GO_AHEAD : CANCEL_THREAD, 0);
  int answer = fibers1_resume(threads[ix], ff_send(e, tag), on_answer);
  switch (answer) {
    case ON_PAUSE: tell(ix, PAUSED, 0); break;
    case ON_FINISH: tell(ix, FINISHED, e->values[0].i32); break;
    default: tell(ix, ANSWERED, e->values[0].i32);
  }
  return answer;
}

EXPORT("goAhead") void goAhead(int ix) {
  ff_event e;
  command(ix, go_ahead, &e);
}

EXPORT("cancelThread") void cancelThread(int ix) {
  ff_event e;
  command(ix, cancel_thread, &e);
}

// Runs a whole thread: until it finishes, or k times before it is cancelled. Returns its total.
EXPORT("runThread") int runThread(const int *els, int count, int k) {
  ff_event e;
  int ix = newThread(els, count);
  while (k-- != 0)
    if (command(ix, go_ahead, &e) != ON_PAUSE) return e.values[0].i32;
  command(ix, cancel_thread, &e);
  return e.values[0].i32;
}

// --- an arena: the threads take turns until the first finishes, then the others are cancelled

static void cancelOthers(int first, int len, int finisher) {
  ff_event e;
  for (int jx = first; jx < first + len; jx++)
    if (jx != finisher && command(jx, cancel_thread, &e) == ON_PAUSE) __builtin_trap();
}

// int cancelingArena(fiber fibers[])
EXPORT("cancelingArena") int cancelingArena(int first, int len) {
  ff_event e;
  if (len <= 0) __builtin_trap();  // there is nothing to wait for
  while (1)
    for (int ix = first; ix < first + len; ix++)
      switch (command(ix, go_ahead, &e)) {  // switch (fibers[ix] resume go_ahead)
        case ON_PAUSE: continue;
        case ON_FINISH: {
          int total = e.values[0].i32;
          cancelOthers(first, len, ix);
          return total;
        }
        default: __builtin_trap();
      }
}
