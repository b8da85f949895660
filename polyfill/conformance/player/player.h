// player.h: what the player of conformance scripts and its four systems have in common. See player.c.

#ifndef PLAYER_H
#define PLAYER_H

#include "../../../include/fiberfill.h"

typedef signed char i8;
typedef short i16;

#define EXPORT(name) __attribute__((export_name(name)))

// Operands and tags that are not one of the numbered; the same as in script.go.
enum { NONE = -1, FAKE = -2, ROOT = -1 };

// The operations, in the order of script.go.
enum {
  RETURN, THROW, UNREACHABLE, CALL,
  NEW, SUSPEND, RESUME, SWITCH, RELEASE,
  SPAWN, RETIRE, RETIRETO, HANDLE, END,
  MOUNT, DISMOUNT, MOUNT_NEW, SWITCH_NEW, DISMOUNT_RELEASE, SWITCH_RELEASE,
  NEW_REF, SWITCH_RETIRE, SWITCH_THROW, BIND, RETURN_SWITCH, RETURN_SWITCH_THROW, HOST,
  BR_ON_EVT, FORWARD, THROW_INTO,
};

// What an outcome is, in the order of script.go.
enum { ISSUED, MADE, STARTED, TAKEN, FELL, RETURNED, CAUGHT, NO_MATCH, LEFT, EXITED, ESCAPED, TRAPPED };

// An operation, as encode.go writes it: 32 bytes.
struct op {
  unsigned char code;
  i8 a, b, tag;
  i16 n, admits;
  i8 as, gives, wants;
  unsigned char maybe, catches, count;
  i8 on[18];
};

// An outcome, as encode.go reads it: 40 bytes.
struct outcome {
  unsigned char kind;
  i8 label, tag, len;
  i16 who, n, ref;
  unsigned char trap;
  ff_types types;
  unsigned long long values[3];
};

// One activation of the loop: a computation's function, or one that it has called.
struct frame {
  i16 who;
  i8 gives;                // signature of what return returns
  struct handle *handles;  // fibers1
};

// What a computation's function is made with.
struct made {
  i16 who, n;
  i8 gives;
};

// ---- player.c ----

// Records an outcome of a kind, and returns it to be filled in: everything that it may have is null or none.
struct outcome *record(int kind, int who);
// Puts the values of e into an outcome.
void fill(struct outcome *o, const ff_event *e);
// The loop. It performs operations until the frame is left, and puts into e what it is left with.
ff_types loop(struct frame *f, ff_event *e);
// Performs the following operations in a frame of its own, and records when that frame is left.
void call_frame(struct frame *f);
// Makes *e an event of tag number `tag` that has the values of the operation, or of the signature.
ff_event *send(ff_event *e, const struct op *op);
void payload(ff_event *e, int signature, i16 n);
ff_types types_of(int signature);
int params_of(int tag);
int results_of(int tag);
// Returns room for what a computation's function is made with. It lasts until the next script.
struct made *new_made(int who, int gives, int n);

// The reference that comes with the current exception: to the computation that has thrown it at another (C-THROW-3).
// Null in the other systems. Nothing else runs between the throw and the catch.
extern unsigned long long thrower;

// The tags of the system, made when a script starts. number_of returns NONE for anything else.
extern ff_tag tags[6];
ff_tag tag(int number);
int number_of(ff_tag tag);
// The list of numbers as tags.
int tags_of(const struct op *op, ff_tag list[18]);

// ---- exceptions.wat ----

#define EXCEPTIONS(name) __attribute__((import_module("exceptions"), import_name(name)))

EXCEPTIONS("throw") _Noreturn void throw_number(int n);
// Calls f with env. Returns whether f has thrown a number, which is put into *n. The stack pointer is then what it was.
EXCEPTIONS("try") int try_call(void (*f)(void *env), void *env, int *n);

// ---- The four systems: fibers1.c fibers2.c stacks.c cont.c ----

// Called when a script starts: forgets everything.
void reset(void);
ff_tag make_tag(ff_types params, ff_types results);
// A reference as a value: sets *bits, and returns FF_REF or FF_NULLREF.
int reference_value(i16 n, unsigned long long *bits);
// The value that stands in a transcript for a reference that has arrived.
unsigned long long reference_number(unsigned long long bits);
// Performs an operation and records what comes back.
void perform(struct frame *f, const struct op *op);
// Performs RETURN_SWITCH and RETURN_SWITCH_THROW.
ff_types return_switch(struct frame *f, const struct op *op, ff_event *e);
// The number of a reference that is handed out now, NONE for null.
int token(unsigned long long ref);

#endif
