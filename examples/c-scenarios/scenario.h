// What the guests of the scenarios have in common.

#ifndef SCENARIO_H
#define SCENARIO_H

#include "../../include/fiberfill.h"

#define EXPORT(name) __attribute__((export_name(name)))
#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))

IMPORT("env", "log") void log_event(int code, int value);

// Tells the host that something has happened: to whom, what, which is a place in the guest's list in scenarios.json, and a value.
static inline void tell(int who, int what, int value) { log_event(who << 8 | what, value); }

// Where the host writes the arrays that it gives to exports.
static int inputs[256];
EXPORT("inputs") int *input_address(void) { return inputs; }

typedef struct array {
  const int *els;
  int count;
} array;

#endif
