// fiberfill.h: fibers for C and C++ programs compiled to wasm, in the words of the four proposals.
//
// Every operation of a proposal is a function here, imported from fiberfill. A guest uses one of the four systems:
//
//   fibers1_   fibers v1: resume, suspend, switch, retire            import module "fiberfill/fibers1"
//   fibers2_   fibers v2: mount, dismount, switch                    import module "fiberfill/fibers2"
//   stacks_    coroutines by single-use stack references: switch     import module "fiberfill/stacks"
//   cont_      cont by stack inspection: resume, suspend, forward    import module "fiberfill/cont"
//
// A generator and the function that adds up what it yields, in fibers1:
//
//   enum { ON_YIELD, ON_END };                  // places in the consumer's list of tags
//
//   ff_types generator(ff_fiber self, void *els, ff_event *e) {
//     while (more(els)) {
//       ff_send(e, yield)->values[0].i32 = next_of(els);
//       fibers1_suspend(self, e, on_next);      // goes on here when it is resumed with next
//     }
//     return 0;                                 // returns no values
//   }
//
//   ff_event e;
//   ff_fiber g = fibers1_new(0, on_next, generator, els);
//   for (;;)
//     switch (fibers1_resume(g, ff_send(&e, next), on_yield_end)) {
//       case ON_YIELD: total += e.values[0].i32; break;
//       default: return total;                  // FF_NEXT: the generator has returned
//     }
//
// # Events
//
// What one computation sends to another is an ff_event: a tag, the types of its values, and the values. The same struct
// takes what arrives: an operation reads it before the jump and writes it when control is back. The operation returns
// the place of the arrived tag in the list of tags (the table) that it was given. It returns FF_NEXT if the other side
// has returned, with its results as the values; or, in fibers v2, if the event was not taken.
//
// # References
//
// References are numbers and never used twice. An operation on a reference that is stale, null, or never given out
// traps. References, tags and tables mean something only in the instance that made them.
//
// # Traps and exceptions
//
// A refused operation traps, and names itself and the rule. A trap cannot be caught. It ends the whole live chain: the
// fiber that issued the operation, and every fiber that it was entered from. An exception that leaves a fiber goes on
// in its parent.
//
// # Concurrency
//
// The fibers of an instance are one thread of control. Calls of its exports run one after another: the next starts when
// the one before it has ended. Fibers that are suspended then live on, and a later call may enter them.

#ifndef FIBERFILL_H
#define FIBERFILL_H

typedef unsigned int ff_fiber;        // a fiber of fibers1 and fibers2; 0: null
typedef unsigned long long ff_stack;  // a single-use reference of stacks; 0: null
typedef unsigned long long ff_cont;   // the same in cont
typedef unsigned int ff_tag;          // a kind of event, compared by identity; 0: none
typedef unsigned int ff_table;        // a list of tags, made once for each instruction; 0: empty
typedef unsigned int ff_types;        // a list of at most eight types, four bits each, the first in the lowest bits

enum { FF_I32 = 1, FF_I64, FF_F32, FF_F64, FF_REF, FF_NULLREF };

// A list of up to eight types: FF_TYPES(FF_I32, FF_F64).
#define FF_TYPES(...) FF_TYPES_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0)
#define FF_TYPES_(a, b, c, d, e, f, g, h, ...) \
  ((ff_types)((a) | (b) << 4 | (c) << 8 | (d) << 12 | (e) << 16 | (f) << 20 | (g) << 24 | (unsigned)(h) << 28))

#define FF_NEXT (-1)

typedef union ff_value {
  int i32;
  long long i64;
  float f32;
  double f64;
  unsigned long long ref;  // FF_REF, FF_NULLREF: a reference of the guest's system; a fiber is in the low 32 bits
} ff_value;

// An event to send, and the place for the one that arrives. 88 bytes, laid out as written.
typedef struct ff_event {
  int label;       // out: what the operation returned
  ff_tag tag;      // in and out; out 0: not an event but results, or the values of a switch
  ff_types types;  // in and out: the types of the values
  ff_fiber fiber;  // out: of mount_new and switch_new, the new fiber
  ff_stack ref;    // in: what a switch or resume enters; out: the reference to the sender, or the detached cont
  ff_value values[8];
} ff_event;

typedef char ff_event_is_laid_out_as_the_host_reads_it[sizeof(ff_event) == 88 ? 1 : -1];

// The function of a fiber. It finds in *e what it was started with, and in env what it was made with. It puts its
// results into e->values and returns their types. In stacks and cont self is 0, because there no lasting reference to a
// coroutine exists.
typedef ff_types ff_body(ff_fiber self, void *env, ff_event *e);

// Throws an exception of the guest's own: an argument of the operations that raise it elsewhere.
typedef void ff_raise(void *env);

#define FF_IMPORT(module, name) __attribute__((import_module("fiberfill/" module), import_name(name)))
#define FF_NORETURN __attribute__((noreturn))

// ---- fibers1: fibers v1 ----

// Makes a tag whose events carry values of these types (K-3).
FF_IMPORT("fibers1", "tag") ff_tag fibers1_tag(ff_types params);
// Makes the list of tags that an instruction takes: those of its handles' event blocks, from the innermost out
// (A-HDL-2). If a tag is listed twice, its first place counts. Make a table once for each instruction, not for each
// switch: tables are never freed.
FF_IMPORT("fibers1", "table") ff_table fibers1_table(const ff_tag *tags, int count);
// Traps unless an event block with parameters of these types may take the tag (A-HDL-4).
FF_IMPORT("fibers1", "block") void fibers1_block(ff_tag tag, ff_types params);
// Makes a fiber that waits, unstarted, for one of the events of start (A-NEW-1).
FF_IMPORT("fibers1", "new") ff_fiber fibers1_new(ff_types results, ff_table start, ff_body *body, void *env);
// Makes a fiber and enters it at once (A-SPAWN-1).
FF_IMPORT("fibers1", "spawn") int fibers1_spawn(ff_types results, ff_body *body, void *env, ff_event *e, ff_table on);
// Takes fiber, the active one or one that waits for it, out of the live chain and sends *e to its parent.
FF_IMPORT("fibers1", "suspend") int fibers1_suspend(ff_fiber fiber, ff_event *e, ff_table on);
// Enters fiber, which must be suspended, with *e.
FF_IMPORT("fibers1", "resume") int fibers1_resume(ff_fiber fiber, ff_event *e, ff_table on);
// Suspends fiber and lets `to` take its place below its parent, which is not told (A-SWITCH-1).
FF_IMPORT("fibers1", "switch") int fibers1_switch(ff_fiber fiber, ff_fiber to, ff_event *e, ff_table on);
// Ends fiber and all below it, the issuer among them, and sends *e to its parent (A-RETIRE-1).
FF_IMPORT("fibers1", "retire") FF_NORETURN void fibers1_retire(ff_fiber fiber, ff_event *e);
// Ends fiber and all below it; `to` takes its place (A-RETIRETO-1).
FF_IMPORT("fibers1", "retireto") FF_NORETURN void fibers1_retireto(ff_fiber fiber, ff_fiber to, ff_event *e);
// Ends fiber, which must be suspended, and all that it carries. None of their code runs (A-RELEASE-1).
FF_IMPORT("fibers1", "release") void fibers1_release(ff_fiber fiber);

// ---- fibers2: fibers v2 ----
// Each operation that sends an event returns FF_NEXT, with e->tag 0, if the receiver does not take it. Then nothing has
// happened.

FF_IMPORT("fibers2", "tag") ff_tag fibers2_tag(ff_types params);
FF_IMPORT("fibers2", "table") ff_table fibers2_table(const ff_tag *tags, int count);
// Makes a fiber that starts by one of the events of start; body finds in e->label which one. When body returns, the
// fiber sends the event `returns` with its results (B-NEW-1).
FF_IMPORT("fibers2", "new") ff_fiber fibers2_new(ff_tag returns, ff_table start, ff_body *body, void *env);
// Makes the issuer the control parent of fiber and sends it *e (B-MOUNT-1).
FF_IMPORT("fibers2", "mount") int fibers2_mount(ff_fiber fiber, ff_event *e, ff_table on);
// Suspends fiber and lets `to` take over its control parent (B-SWITCH-1).
FF_IMPORT("fibers2", "switch") int fibers2_switch(ff_fiber fiber, ff_fiber to, ff_event *e, ff_table on);
// Clears the control parent of fiber and sends it *e (B-DISMOUNT-1).
FF_IMPORT("fibers2", "dismount") int fibers2_dismount(ff_fiber fiber, ff_event *e, ff_table on);
// Ends fiber, which must have no control parent, and its control descendants. Does nothing if it has ended
// (B-RELEASE-1).
FF_IMPORT("fibers2", "release") void fibers2_release(ff_fiber fiber);
// Makes a fiber and mounts it at once; e->fiber is its reference when control is back. The first tag of on is the
// fiber's return event. From whichever fiber that event comes, it arrives as FF_NEXT with e->tag 0. The others arrive
// at their places in on, which begin at 1 (B-MNEW-2).
FF_IMPORT("fibers2", "mount_new") int fibers2_mount_new(ff_body *body, void *env, ff_event *e, ff_table on);
// Makes a fiber and switches to it from fiber (B-SNEW-1).
FF_IMPORT("fibers2", "switch_new")
int fibers2_switch_new(ff_fiber fiber, ff_body *body, void *env, ff_event *e, ff_table on);
// Dismounts fiber and releases it with all below it. Returns only if the parent does not take *e (B-DREL-1).
FF_IMPORT("fibers2", "dismount_release") int fibers2_dismount_release(ff_fiber fiber, ff_event *e);
// Switches from fiber to `to` and releases fiber. Returns only if `to` does not take *e (B-SREL-1).
FF_IMPORT("fibers2", "switch_release") int fibers2_switch_release(ff_fiber fiber, ff_fiber to, ff_event *e);

// ---- stacks: coroutines by single-use references ----
// types and nullable say what the coroutine awaits: the values, and whether the sender may send a null reference
// instead of one to itself (C-TYPE-1). What arrives is in *e: the values, and in e->ref the reference to the sender.

// Makes a coroutine that has not run, and puts the reference to it into e->ref (C-NEW-1).
FF_IMPORT("stacks", "new") void stacks_new(ff_types types, int nullable, ff_body *body, void *env, ff_event *e);
// The same for a function reference that may be null, which traps (C-NEWREF-1).
FF_IMPORT("stacks", "new_ref") void stacks_new_ref(ff_types types, int nullable, ff_body *body, void *env, ff_event *e);
// Activates the coroutine of e->ref with the values of *e, and waits (C-SWITCH-1).
FF_IMPORT("stacks", "switch") void stacks_switch(ff_event *e, ff_types types, int nullable);
// The same, but the issuer ends (C-RETIRE-1).
FF_IMPORT("stacks", "switch_retire") FF_NORETURN void stacks_switch_retire(ff_event *e);
// The same as switch, with an exception. raise is called with env before anything else happens. What it throws arrives
// where the target waits. The reference to the thrower is in e->ref of the operation that the target waits in
// (C-THROW-1, C-THROW-3).
FF_IMPORT("stacks", "switch_throw")
void stacks_switch_throw(ff_event *e, ff_raise *raise, void *env, ff_types types, int nullable);
// Supplies the first of the awaited values from *e. Afterwards e->ref is the new reference (C-BIND-1).
FF_IMPORT("stacks", "bind") void stacks_bind(ff_event *e);
// Switches, for a function that ends with it: the function returns what `then` returns. Use ff_return_switch below.
FF_IMPORT("stacks", "return_switch") void stacks_return_switch(ff_event *e, ff_types types, int nullable);
FF_IMPORT("stacks", "return_switch_throw")
void stacks_return_switch_throw(ff_event *e, ff_raise *raise, void *env, ff_types types, int nullable);

// ---- cont: cont by stack inspection ----

// Makes a tag whose events carry params up and get results back (D-TYPE-2).
FF_IMPORT("cont", "event") ff_tag cont_event(ff_types params, ff_types results);
FF_IMPORT("cont", "table") ff_table cont_table(const ff_tag *tags, int count);
// Returns whether a resumer admits the event *e, in addition to its table. It runs as if called by the computation that
// raises the event, which gets what it throws. It must not wait.
typedef int ff_admits(void *env, const ff_event *e);
// Makes a continuation, and puts the reference to it into e->ref. A null body traps (D-NEW-1).
FF_IMPORT("cont", "new") void cont_new(ff_types params, ff_types results, ff_body *body, void *env, ff_event *e);
// Enters e->ref with the values of *e. Returns the place in filter of the event that came out, with the cont in e->ref,
// or FF_NEXT with the results. If admits is null, every event of filter is admitted (D-RESUME-1, D-FILT-1).
FF_IMPORT("cont", "resume") int cont_resume(ff_event *e, ff_table filter, ff_admits *admits, void *env);
// Sends *e to the nearest resumer that admits it. Returns with the results of the event (D-SUSPEND-1).
FF_IMPORT("cont", "suspend") void cont_suspend(ff_event *e);
// Returns whether *e, which has come out of a resume, has the tag. Traps if it is not an event (D-BRON-1).
FF_IMPORT("cont", "br_on_evt") int cont_br_on_evt(const ff_event *e, ff_tag tag);
// Hands *e on to the next resumer outward, and goes on as resume does (D-FWD-1).
FF_IMPORT("cont", "forward") int cont_forward(ff_event *e, ff_table filter, ff_admits *admits, void *env);
// Enters e->ref with the exception that raise, called with env, throws. Returns with the results (D-THROW-1).
FF_IMPORT("cont", "throw") void cont_throw(ff_event *e, ff_raise *raise, void *env);

// return_switch as one expression. `return ff_return_switch(e, awaits, nullable, then, env);` leaves the function,
// switches, and lets then(0, env, e) return in its place (C-RSW-1).
#define ff_return_switch(e, types, nullable, then, env) \
  (stacks_return_switch((e), (types), (nullable)), (then)(0, (env), (e)))

// ---- Filling in an event ----

// Makes *e an event of the tag without values. Returns e.
static inline ff_event *ff_send(ff_event *e, ff_tag tag) {
  e->tag = tag;
  e->types = 0;
  return e;
}

// The same with one i32, as most events have.
static inline ff_event *ff_send_i32(ff_event *e, ff_tag tag, int value) {
  ff_send(e, tag)->types = FF_I32;
  e->values[0].i32 = value;
  return e;
}

#endif
