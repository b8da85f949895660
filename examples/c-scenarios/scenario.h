// Shared by the guests of the scenarios.

#ifndef SCENARIO_H
#define SCENARIO_H

#include "../../include/fiberfill.h"

#define EXPORT(name) __attribute__((export_name(name)))
#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))

IMPORT("env", "log") void log_event(int code, int value);

// Reports an event to the host: the fiber, the event as an index in the guest's list in scenarios.json, and a value.
static inline void tell(int who, int what, int value) { log_event(who << 8 | what, value); }

// The host writes the array arguments of exports here.
static int inputs[256];
EXPORT("inputs") int *input_address(void) { return inputs; }

typedef struct array {
  const int *els;
  int count;
} array;

#endif
