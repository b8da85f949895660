// An actor in C that blocks in the middle of its handler.
//
// MSG_PING and MSG_SLEEP_TEST are the messages of scenario S-SLEEP. Each of the others shows one thing that an actor
// can do, for the tests. The guest uses no C library. README.md says how to compile it.

#include "mk.h"

enum {
  MSG_PING = 200,       // any payload: it comes back as MSG_PONG
  MSG_PONG = 201,
  MSG_SLEEP_TEST = 204, // sleeps for 50 ms, then MSG_PONG "slept"
  MSG_NO_FIBER = 207,   // "no_fiber": it cannot sleep, being of class none

  MSG_SLEEPS = 300,   // int ms[]: sleeps for each in turn; after each, MSG_SLEEPS with the result
  MSG_RECV = 301,     // int capacity: receives a message; MSG_RECV with a struct received
  MSG_READABLE = 302, // int fd, timeout_ms: waits; MSG_READABLE with the result
  MSG_WRITABLE = 303,
  MSG_SELF = 304,     // logs "hello"; MSG_SELF with its own mk_actor
  MSG_SEND = 305,     // struct { mk_actor to; int type, count; }: sends messages; MSG_SEND with how many were refused
  MSG_DEEP = 306,     // int levels: uses 256 bytes of stack a level, sleeps 1 ms at the bottom; MSG_DEEP with a sum
  MSG_END = 307,      // returns 0
  MSG_TRAP = 308,     // int ms: sleeps, then traps
  MSG_BAD = 309,      // sends from an address outside the memory
};

struct received {
  int result, type, size;
  char bytes[16];
};

// Keeps locals on the shadow stack, where another actor could overwrite them. In wasm locals they would be safe.
#define OPAQUE __attribute__((noinline))

OPAQUE static void keep(volatile int *locals, int count, int seed) {
  for (int i = 0; i < count; i++) locals[i] = seed + i;
}

OPAQUE static int kept(volatile int *locals, int count, int seed) {
  for (int i = 0; i < count; i++)
    if (locals[i] != seed + i) return 0;
  return 1;
}

static int sleep_test(mk_actor source) {
  volatile int locals[16];
  keep(locals, 16, 50);
  if (mk_sleep_ms(50) != 0) return mk_send(source, MSG_NO_FIBER, "no_fiber", 8);
  if (!kept(locals, 16, 50)) return mk_send(source, MSG_PONG, "overwritten", 11);
  return mk_send(source, MSG_PONG, "slept", 5);
}

static void sleeps(mk_actor source, const int *ms, int count) {
  volatile int locals[16];
  for (int i = 0; i < count; i++) {
    keep(locals, 16, ms[i]);
    int result = mk_sleep_ms(ms[i]);
    if (!kept(locals, 16, ms[i])) __builtin_trap();
    mk_send(source, MSG_SLEEPS, &result, sizeof result);
  }
}

static void receive(mk_actor source, int capacity) {
  struct received r;
  for (unsigned i = 0; i < sizeof r.bytes; i++) ((volatile char *)r.bytes)[i] = '.';
  r.type = r.size = 0;
  r.result = mk_recv(&r.type, r.bytes, capacity, &r.size);
  mk_send(source, MSG_RECV, &r, sizeof r);
}

static void answer(mk_actor source, int type, int value) { mk_send(source, type, &value, sizeof value); }

OPAQUE static int deep(int levels) {
  volatile int locals[64];
  keep(locals, 64, levels);
  int sum = levels > 1 ? deep(levels - 1) : mk_sleep_ms(1);
  return kept(locals, 64, levels) ? sum + levels : -1000000;
}

int handle_message(int type, mk_actor source, const void *payload, int size) {
  const int *numbers = payload;
  switch (type) {
  case MSG_PING:
    mk_send(source, MSG_PONG, payload, size);
    break;
  case MSG_SLEEP_TEST:
    sleep_test(source);
    break;
  case MSG_SLEEPS:
    sleeps(source, numbers, size / (int)sizeof *numbers);
    break;
  case MSG_RECV:
    receive(source, numbers[0]);
    break;
  case MSG_READABLE:
    answer(source, type, mk_wait_fd_readable(numbers[0], numbers[1]));
    break;
  case MSG_WRITABLE:
    answer(source, type, mk_wait_fd_writable(numbers[0], numbers[1]));
    break;
  case MSG_SELF: {
    mk_actor self = mk_self();
    mk_log(2, "hello", 5);
    mk_send(source, MSG_SELF, &self, sizeof self);
    break;
  }
  case MSG_SEND: {
    int refused = 0;
    for (int i = 0; i < numbers[3]; i++) refused -= mk_send(*(const mk_actor *)payload, numbers[2], 0, 0);
    answer(source, type, refused);
    break;
  }
  case MSG_DEEP:
    answer(source, type, deep(numbers[0]));
    break;
  case MSG_END:
    return 0;
  case MSG_TRAP:
    mk_sleep_ms(numbers[0]);
    __builtin_trap();
  case MSG_BAD:
    mk_send(source, MSG_BAD, (const void *)0x7fffff00, 0x100);
    break;
  }
  return 1;
}
