// What the guests of jsglue/test/proposals_test.mjs share.

#include "../../../include/fiberfill.h"

#define EXPORT(name) __attribute__((export_name(name)))
#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#define UNUSED __attribute__((unused))

IMPORT("env", "note") void note(int what);                    // records that something happened, in order
IMPORT("env", "wait") int wait(int n);                        // may wait
IMPORT("env", "fail") void fail(int n);                       // throws an Error of the test
IMPORT("env", "call") int call(int (*f)(int), int argument);  // returns f(argument), called below a frame of JavaScript

EXPORT("called") int called(int (*f)(int), int argument) { return f(argument); }

static UNUSED void raise(void *n) { fail((int)n); }

// Sends one value of every type.
static UNUSED ff_event *send_all(ff_event *e, ff_tag tag, unsigned long long ref) {
  ff_send(e, tag)->types = FF_TYPES(FF_I32, FF_I64, FF_F32, FF_F64, FF_REF, FF_NULLREF);
  e->values[0].i32 = -7;
  e->values[1].i64 = -0x123456789abcdef0;
  e->values[2].f32 = -1.5f;
  e->values[3].f64 = 1e300;
  e->values[4].ref = ref;
  e->values[5].ref = 0;
  return e;
}

// Whether those values have arrived.
static UNUSED int are_all(const ff_event *e, unsigned long long ref) {
  return e->types == FF_TYPES(FF_I32, FF_I64, FF_F32, FF_F64, FF_REF, FF_NULLREF) && e->values[0].i32 == -7 &&
         e->values[1].i64 == -0x123456789abcdef0 && e->values[2].f32 == -1.5f && e->values[3].f64 == 1e300 &&
         e->values[4].ref == ref &&
         e->values[5].ref == 0;
}
