// A guest for an HTTP server: it answers one request, in straight-line code, and waits in the middle.
//
// shop_price waits for a database, and meanwhile the same instance answers other requests. The address-taken locals lie
// on the shadow stack, of which every request has its own.

#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name)))

// Returns the price of an item in cents. May wait. If there is no such item, or the client has gone, it leaves as an
// exception, which passes straight through the C code.
IMPORT("shop", "price") int shop_price(const char *item, int length);

// Sends a part of the answer. Never waits.
IMPORT("shop", "write") void shop_write(const char *text, int length);

struct text {
  char bytes[64];
  int length;
};

static void add(struct text *t, char c) {
  if (t->length < (int)sizeof t->bytes) t->bytes[t->length++] = c;
}

static void add_number(struct text *t, int n) {
  if (n >= 10) add_number(t, n / 10);
  add(t, (char)('0' + n % 10));
}

// Answers a request for items whose names are separated by commas: one line with their sum.
EXPORT("total") void total(const char *items, int length) {
  struct text answer;
  answer.length = 0;
  int sum = 0;
  for (int from = 0, to = 0; to <= length; to++) {
    if (to < length && items[to] != ',') continue;
    if (to > from) sum += shop_price(items + from, to - from);
    from = to + 1;
  }
  add_number(&answer, sum / 100);
  add(&answer, '.');
  add(&answer, (char)('0' + sum / 10 % 10));
  add(&answer, (char)('0' + sum % 10));
  add(&answer, '\n');
  shop_write(answer.bytes, answer.length);
}
