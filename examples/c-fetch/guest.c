// A guest in C for fiberfill: plain functions that wait in the middle.
//
// It uses no C library, and nothing in it knows about fibers: fetch_text looks like any function that takes a while.
// The address-taken locals (the body, the reader, the URL) live on the shadow stack in linear memory, which is why
// every waiting call needs a shadow stack of its own. README.md says how to compile it.

#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name)))

// Keeps a function, and the addresses passed to it, out of the optimiser's reach. The locals must stay on the shadow
// stack: in wasm locals, which no other call can overwrite, they would show nothing.
#define OPAQUE __attribute__((noinline))

// Fetches url and writes at most cap bytes of the body to buf. Returns the length of the whole body. May wait. An HTTP
// or network error is an exception that passes straight through the C code, which cannot see it.
IMPORT("env", "fetch_text") int fetch_text(const char *url, int url_len, char *buf, int cap);

// Logs an event to the page. Never waits.
IMPORT("env", "log") void tell(int code, int value);

// Lets the other fibers run. Provided by fiberfill.
IMPORT("fiberfill", "yield") void yield(void);

enum { ASKED = 1, ANSWERED = 2 };                      // codes of tell
enum { TOO_LONG = -1, NOT_JSON = -2, NOT_MINE = -3 }; // returned by item instead of a value

// A reader walks once over the JSON text of one object and keeps the two numbers that the guest wants.
struct reader {
  const char *at, *end;
  int wanted; // the id in the URL, or -1: stored before the wait, compared after it
  int id, value;
};

// Stores the N of "id=N" in the URL.
OPAQUE void want(struct reader *r, const char *url, int url_len) {
  r->wanted = r->id = r->value = -1;
  for (int i = 1; i + 3 < url_len; i++) {
    if ((url[i - 1] != '?' && url[i - 1] != '&') || url[i] != 'i' || url[i + 1] != 'd' || url[i + 2] != '=') continue;
    r->wanted = 0;
    for (i += 3; i < url_len && url[i] >= '0' && url[i] <= '9'; i++) r->wanted = r->wanted * 10 + (url[i] - '0');
    return;
  }
}

static void blank(struct reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t')) r->at++;
}

// Skips white space and then c. Returns whether c was there.
static int eat(struct reader *r, char c) {
  blank(r);
  if (r->at == r->end || *r->at != c) return 0;
  r->at++;
  return 1;
}

// Skips a string. Returns the length of its text, which starts at *text, or -1 if there is no string.
static int string(struct reader *r, const char **text) {
  if (!eat(r, '"')) return -1;
  *text = r->at;
  for (; r->at < r->end; r->at++) {
    if (*r->at == '\\') r->at++;
    else if (*r->at == '"') return (int)(r->at++ - *text);
  }
  r->at = r->end; // the backslash may have been the last byte
  return -1;
}

static int number(struct reader *r) {
  blank(r);
  if (r->at == r->end || *r->at < '0' || *r->at > '9') return -1;
  int n = 0;
  for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) n = n * 10 + (*r->at - '0');
  return n;
}

static int is(const char *text, int len, const char *name) {
  while (len > 0 && *name && *text == *name) text++, name++, len--;
  return len == 0 && !*name;
}

// Reads {"name": number or string, ...}. Returns whether the text is such an object.
OPAQUE int read_object(struct reader *r) {
  if (!eat(r, '{')) return 0;
  do {
    const char *name, *text;
    int len = string(r, &name);
    if (len < 0 || !eat(r, ':')) return 0;
    blank(r);
    if (r->at < r->end && *r->at == '"') {
      if (string(r, &text) < 0) return 0;
      continue;
    }
    int n = number(r);
    if (n < 0) return 0;
    if (is(name, len, "id")) r->id = n;
    if (is(name, len, "value")) r->value = n;
  } while (eat(r, ','));
  return eat(r, '}');
}

// Fetches {"id":17,"value":4711,...} and returns the value, or one of the negative codes above. NOT_MINE means that the
// id in the answer is not the id in the URL: another call has overwritten this call's memory.
EXPORT("item") int item(const char *url, int url_len) {
  char body[1024];
  struct reader r;
  want(&r, url, url_len);
  tell(ASKED, r.wanted);

  int n = fetch_text(url, url_len, body, sizeof body); // waits here

  if (n > (int)sizeof body) return TOO_LONG;
  r.at = body;
  r.end = body + n;
  if (!read_object(&r) || r.value < 0) return NOT_JSON;
  if (r.wanted >= 0 && r.wanted != r.id) return NOT_MINE;
  tell(ANSWERED, r.value);
  return r.value;
}

// Appends n in decimal to text, which has room for it. Returns the new length.
OPAQUE int append(char *text, int len, int n) {
  char digits[10];
  int count = 0;
  do digits[count++] = (char)('0' + n % 10); while (n /= 10);
  while (count) text[len++] = digits[--count];
  return len;
}

// Fetches `count` items one after another; the URL is base followed by a number, which starts at from. Returns the sum
// of their values, or the first negative code. A loop that waits in its middle needs no state machine.
EXPORT("sum") int sum(const char *base, int base_len, int from, int count) {
  char url[512];
  int total = 0;
  if (base_len + 10 > (int)sizeof url) return TOO_LONG;
  for (int i = 0; i < base_len; i++) url[i] = base[i];
  for (int i = 0; i < count; i++) {
    int value = item(url, append(url, base_len, from + i));
    if (value < 0) return value;
    total += value;
  }
  return total;
}

// Takes n turns with the other fibers and returns n.
EXPORT("yielding") int yielding(int n) {
  for (int i = 0; i < n; i++) yield();
  return n;
}

OPAQUE void fill(int *frame, int count, int with) {
  for (int i = 0; i < count; i++) frame[i] = with;
}

OPAQUE int filled(const int *frame, int count, int with) {
  for (int i = 0; i < count; i++) if (frame[i] != with) return 0;
  return 1;
}

// Uses a kilobyte of shadow stack for each level, yields at the bottom, and checks on the way back that the levels are
// intact. Returns depth, or -1 if they are not.
EXPORT("overflow") int overflow(int depth) {
  int frame[256];
  fill(frame, 256, depth);
  if (depth > 0) {
    if (overflow(depth - 1) != depth - 1) return -1;
  } else {
    yield();
  }
  return filled(frame, 256, depth) ? depth : -1;
}

// Recurses without end and without the shadow stack, so that the engine's own stack overflows. The test keeps the
// compiler from seeing that there is no end, and the work after the call keeps it from making the call a jump.
static volatile int deepest;
EXPORT("endless") int endless(int level) {
  if (deepest < 0) return level;
  deepest = level;
  int below = endless(level + 1);
  deepest = below;
  return below;
}

EXPORT("trap") void trap(void) { __builtin_trap(); }

// One function each for the number types that item does not use.
EXPORT("add64") long long add64(long long a, long long b) {
  return (long long)((unsigned long long)a + (unsigned long long)b);
}
EXPORT("addf") double addf(double a, float b) { return a + b; }
