// Shared by the guests of the costs: an export does its operation n times, sends a one each time, and returns the sum
// of the ones, which is n.

#include "../../../include/fiberfill.h"

#define EXPORT(name) __attribute__((export_name(name)))
#define EXCEPTIONS(name) __attribute__((import_module("exceptions"), import_name(name)))

// The exceptions of the conformance player, merged in: polyfill/conformance/player/exceptions.wat.
EXCEPTIONS("throw") _Noreturn void throw_number(int n);
EXCEPTIONS("try") int try_call(void (*f)(void *env), void *env, int *n);
