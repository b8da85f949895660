// tokens.h: what stacks and cont have in common: single-use references, numbered as they are handed out.

#include "player.h"

enum { MAX_TOKENS = 4096 };

static unsigned long long known[MAX_TOKENS];
static int tokens;
static int computations;

static unsigned long long reference(i8 n) { return n >= 0 && n < tokens ? known[n] : 0; }

int token(unsigned long long ref) {
  if (!ref) return NONE;
  if (tokens == MAX_TOKENS) __builtin_trap();
  known[tokens] = ref;
  return tokens++;
}

// References that are sent as values stand for themselves.
int reference_value(i16 n, unsigned long long *bits) {
  *bits = (unsigned short)n;
  return *bits ? FF_REF : FF_NULLREF;
}

unsigned long long reference_number(unsigned long long bits) { return bits; }

// Throws the number that env points to.
static void raise(void *env) { throw_number(*(int *)env); }
