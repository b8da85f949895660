// A guest in C++ whose destructors run however a call ends: when it returns, when the import that it waits in throws
// since the fetch has failed, and when the fiber is cancelled.

#include <stddef.h>

#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#define EXPORT(name) extern "C" __attribute__((export_name(name)))

extern "C" {
IMPORT("env", "fetch_text") size_t fetch_text(const char *url, size_t url_len, char *buffer, size_t capacity);
IMPORT("fiberfill", "sleep_ms") void sleep_ms(int ms);
}

namespace {

int open_connections;

// Something that has to be given back.
class Connection {
public:
  Connection() { open_connections++; }
  ~Connection() { open_connections--; }
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;
};

// A text in a buffer of its own, on the stack of its fiber.
class Body {
public:
  explicit Body(const char *url, size_t url_len) : size_(fetch_text(url, url_len, text_, sizeof text_)) {}

  bool complete() const { return size_ <= sizeof text_; }

  // The number behind `"name":`, -1 if there is none.
  int number(const char *name, size_t name_len) const {
    for (size_t at = 0; at + name_len < size_; at++) {
      size_t same = 0;
      while (same < name_len && text_[at + same] == name[same]) same++;
      if (same == name_len) return digits(at + name_len);
    }
    return -1;
  }

private:
  int digits(size_t at) const {
    int value = -1;
    for (; at < size_ && text_[at] >= '0' && text_[at] <= '9'; at++)
      value = (value < 0 ? 0 : value) * 10 + text_[at] - '0';
    return value;
  }

  char text_[512];
  size_t size_;
};

}  // namespace

// The value of an item: {"id":1,"value":4711,...}. -1: no such JSON, or too long. Waits a millisecond with the
// connection open before it reads the answer.
EXPORT("item") int item(const char *url, size_t url_len) {
  Connection connection;
  Body body(url, url_len);
  sleep_ms(1);
  static const char name[] = "\"value\":";
  return body.complete() ? body.number(name, sizeof name - 1) : -1;
}

// How many connections are open.
EXPORT("open") int open() { return open_connections; }
