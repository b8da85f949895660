// The player of conformance scripts as a guest: one loop, which every computation of all four systems runs. The active
// computation takes the next operation of the script, performs it and records what came back. Package conformance
// explains scripts and transcripts; this file is its go.go in C.
//
// How a host plays a script:
//
//   write the bytes of Encode at script()
//   left = start()
//   while left > 0
//     left = play()             one entry: it ends when its function returns, throws, or something traps
//     if that trapped
//       left = trapped(code)    the number of the trap; that of unreachable if the guest's own
//   read 40 * count() bytes at trace(), which Decode understands
//
// After the last operation the loop traps on purpose, which ends the computations of the entry. trapped then returns 0
// and records nothing.

#include "player.h"

enum { MAX_OPS = 1024, MAX_OUTCOMES = 8 * 1024, MAX_MADE = 1024 };

static struct {
  int count;
  ff_types signatures[8];
  i8 tags[8][2];  // signatures of the parameters and results
  int padding[3];
  struct op ops[MAX_OPS];
} script;

_Static_assert(sizeof(script) == 64 + 32 * MAX_OPS, "scripts are laid out as encode.go writes them");
_Static_assert(sizeof(struct outcome) == 40, "outcomes are laid out as encode.go reads them");

static struct outcome trace[MAX_OUTCOMES];
static int outcomes, next, over;
static struct made made[MAX_MADE];
static int mades;

ff_tag tags[6];
unsigned long long thrower;

struct outcome *record(int kind, int who) {
  if (outcomes == MAX_OUTCOMES) __builtin_trap();
  struct outcome *o = &trace[outcomes++];
  *o = (struct outcome){.kind = kind, .tag = NONE, .who = who, .ref = NONE};
  return o;
}

void fill(struct outcome *o, const ff_event *e) {
  o->types = e->types;
  ff_types rest = e->types;
  for (o->len = 0; rest != 0 && o->len < 3; rest >>= 4, o->len++) {
    unsigned long long bits = e->values[o->len].ref;
    switch (rest & 15) {
      case FF_I32:
      case FF_F32: bits = (unsigned)bits; break;
      case FF_REF: bits = reference_number(bits); break;
      case FF_NULLREF: bits = 0; break;
    }
    o->values[o->len] = bits;
  }
}

ff_types types_of(int signature) { return script.signatures[signature]; }
int params_of(int tag) { return script.tags[tag][0]; }
int results_of(int tag) { return script.tags[tag][1]; }

// 99 is a tag that nobody has made: of another machine.
ff_tag tag(int number) { return number < 0 ? 99 : tags[number]; }

int number_of(ff_tag tag) {
  for (int i = 0; i < 6; i++)
    if (tags[i] == tag) return i;
  return NONE;
}

int tags_of(const struct op *op, ff_tag list[18]) {
  for (int i = 0; i < op->count; i++) list[i] = tag(op->on[i]);
  return op->count;
}

void payload(ff_event *e, int signature, i16 n) {
  e->types = types_of(signature);
  for (int i = 0; e->types >> 4 * i; i++) {
    ff_value *v = &e->values[i];
    v->ref = 0;
    switch (e->types >> 4 * i & 15) {
      case FF_I32: v->i32 = n; break;
      case FF_I64: v->i64 = n * (1ll << 32) + n; break;
      case FF_F32: v->f32 = n + 0.5f; break;
      case FF_F64: v->f64 = n - 0.25; break;
      case FF_REF:
        if (reference_value(n, &v->ref) == FF_NULLREF) e->types ^= (FF_REF ^ FF_NULLREF) << 4 * i;
        break;
    }
  }
}

ff_event *send(ff_event *e, const struct op *op) {
  int signature = op->as != NONE ? op->as : op->tag >= 0 ? params_of(op->tag) : 0;
  e->tag = tag(op->tag);
  payload(e, signature, op->n);
  return e;
}

struct made *new_made(int who, int gives, int n) {
  if (mades == MAX_MADE) __builtin_trap();
  struct made *m = &made[mades++];
  *m = (struct made){who, n, gives};
  return m;
}

struct doing {
  struct frame *f;
  const struct op *op;
};

static void called_by_host(void *f) { call_frame(f); }

__attribute__((import_module("host"), import_name("call"))) void host_call(void (*f)(void *), void *env);

// What host.call calls back.
EXPORT("called") void called(void (*f)(void *), void *env) { f(env); }

static void act(void *env) {
  struct doing *d = env;
  switch (d->op->code) {
    case THROW: thrower = 0; throw_number(d->op->n);
    case UNREACHABLE: __builtin_trap();
    case CALL: call_frame(d->f); break;
    case HOST: host_call(called_by_host, d->f); break;
    default: perform(d->f, d->op);
  }
}

// Performs an operation, and catches what it throws if it says so.
static void attempt(struct frame *f, const struct op *op) {
  struct doing d = {f, op};
  int n;
  if (!op->catches) {
    act(&d);
  } else if (try_call(act, &d, &n)) {
    struct outcome *o = record(CAUGHT, f->who);
    o->n = n;
    o->ref = token(thrower);
  }
}

ff_types loop(struct frame *f, ff_event *e) {
  for (;;) {
    if (next == script.count) {
      over = 1;
      __builtin_trap();
    }
    const struct op *op = &script.ops[next];
    record(ISSUED, f->who)->ref = next++;
    switch (op->code) {
      case RETURN: payload(e, op->as != NONE ? op->as : f->gives, op->n); return e->types;
      case RETURN_SWITCH:
      case RETURN_SWITCH_THROW: return return_switch(f, op, e);
    }
    attempt(f, op);
  }
}

void call_frame(struct frame *f) {
  struct frame inner = {f->who, 1, 0};
  ff_event e;
  ff_types results = loop(&inner, &e);
  record(LEFT, f->who)->n = (results & 15) == FF_I32 ? e.values[0].i32 : 0;
}

static void entry(void *e) {
  struct frame f = {ROOT, 1, 0};
  loop(&f, e);
  fill(record(EXITED, ROOT), e);
}

EXPORT("script") void *script_address(void) { return &script; }

EXPORT("start") int start(void) {
  outcomes = next = over = mades = 0;
  thrower = 0;
  reset();
  for (int i = 0; i < 6; i++) tags[i] = make_tag(types_of(params_of(i)), types_of(results_of(i)));
  return script.count;
}

EXPORT("play") int play(void) {
  ff_event e;
  int n;
  if (try_call(entry, &e, &n)) record(ESCAPED, ROOT)->n = n;
  return script.count - next;
}

EXPORT("trapped") int trapped(int code) {
  if (over) return 0;
  record(TRAPPED, ROOT)->trap = code;
  return script.count - next;
}

EXPORT("trace") void *trace_address(void) { return trace; }
EXPORT("count") int count(void) { return outcomes; }
