// For bun test --preload: the node:test of Bun 1.2 calls a test passed before its Promise has settled. Files are given
// what bun:test has in its place.

import { afterEach, describe, mock, spyOn, test } from "bun:test";

/** As mock.method of node:test, as far as tests here use it. */
function method(object, name, fn) {
  const spy = spyOn(object, name).mockImplementation(fn);
  return {
    mock: {
      get calls() {
        return spy.mock.calls.map((args) => ({ arguments: args }));
      },
      callCount: () => spy.mock.calls.length,
      mockImplementation: (fn) => spy.mockImplementation(fn),
      restore: () => spy.mockRestore(),
    },
  };
}

const context = { diagnostic() {} };

mock.module("node:test", () => ({
  afterEach,
  describe,
  mock: { method },
  // bun:test takes a function with a parameter for one that calls back.
  test: (name, fn) => test(name, () => fn(context)),
}));
