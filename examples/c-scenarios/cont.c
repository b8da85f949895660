// The document's thread scheduler by cont, corrected, in C: a queue of continuations. The scheduler handles the events
// of their threads or hands them on.

#include "scenario.h"

enum { RUNS, SPAWNS, ENDS, ASKS, HANDS_ON, ANSWER };  // for tell

static ff_tag yield, spawn, other;
static ff_table on_own, on_all, on_other;

EXPORT("_initialize") void initialize(void) {
  yield = cont_event(0, 0);
  spawn = cont_event(FF_I32, 0);
  other = cont_event(FF_I32, FF_I32);
  on_own = cont_table((ff_tag[]){yield, spawn}, 2);
  on_all = cont_table((ff_tag[]){yield, spawn, other}, 3);
  on_other = cont_table(&other, 1);
}

// --- the scheduler

static ff_cont queue[64];
static unsigned head, tail;

static void enqueue(ff_cont k) { queue[tail++ % 64] = k; }
static ff_cont dequeue(void) { return queue[head++ % 64]; }
static int empty(void) { return head == tail; }

static ff_cont newThread(ff_body *body, const void *env) {
  ff_event e;
  cont_new(0, 0, body, (void *)env, &e);
  return e.ref;
}

static ff_body thread;

// Resumes the continuations in the queue until it is empty. An event that is not the scheduler's goes on outward; the
// event that the forward then returns is tested again.
static void schedule(ff_table filter) {
  ff_event e;
  while (!empty()) {
    ff_send(&e, 0)->ref = dequeue();
    int label = cont_resume(&e, filter, 0, 0);
    while (label != FF_NEXT) {
      ff_cont k = e.ref;
      if (cont_br_on_evt(&e, yield)) {
        enqueue(k);
        break;
      }
      if (cont_br_on_evt(&e, spawn)) {
        enqueue(newThread(thread, (const void *)(unsigned long)e.values[0].i32));
        enqueue(k);
        break;
      }
      tell(0, HANDS_ON, e.values[0].i32);
      label = cont_forward(&e, filter, 0, 0);
    }
  }
}

// --- threads

// Given by the host: how often a thread yields, and the index of a thread that it makes first; negative: none.
typedef struct plan {
  int steps, child;
} plan;
static const plan *plans;

static ff_types thread(ff_fiber none, void *env, ff_event *e) {
  (void)none;
  const plan *mine = env;
  int who = (int)(mine - plans);
  if (mine->child >= 0) {
    tell(who, SPAWNS, mine->child);
    cont_suspend(ff_send_i32(e, spawn, (int)(unsigned long)&plans[mine->child]));
  }
  for (int i = 0; i < mine->steps; i++) {
    tell(who, RUNS, 0);
    cont_suspend(ff_send(e, yield));
  }
  tell(who, ENDS, 0);
  return 0;
}

// Runs the first count threads, and the threads that they make.
EXPORT("run") void run(const plan *threads, int count) {
  plans = threads;
  for (int i = 0; i < count; i++) enqueue(newThread(thread, &plans[i]));
  schedule(on_own);
}

// --- a thread that asks outside the scheduler

static ff_types asking(ff_fiber none, void *times, ff_event *e) {
  (void)none;
  for (int i = 0; i < (int)times; i++) {
    tell(0, ASKS, i);
    cont_suspend(ff_send_i32(e, other, i));
    tell(0, ANSWER, e->values[0].i32);
    cont_suspend(ff_send(e, yield));
  }
  return 0;
}

static ff_types scheduler(ff_fiber none, void *filter, ff_event *e) {
  (void)none, (void)e;
  schedule((ff_table)(unsigned long)filter);
  return 0;
}

// Answers, outside of a scheduler, a thread's questions. The scheduler's filter either takes a question, and hands it
// on, or does not take it.
EXPORT("outside") int outside(int times, int takes) {
  enqueue(newThread(asking, (const void *)times));
  ff_event e;
  ff_send(&e, 0)->ref = newThread(scheduler, (const void *)(takes ? on_all : on_own));
  int answered = 0;
  while (cont_resume(&e, on_other, 0, 0) != FF_NEXT) {
    answered++;
    e.types = FF_I32;
    e.values[0].i32 += 100;
  }
  return answered;
}
