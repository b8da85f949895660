// What tests written for Node import from node:assert/strict, as far as those that also run in browsers use it.

const shown = (value) => JSON.stringify(value, (_, v) => (typeof v === "bigint" ? `${v}n` : v)) ?? String(value);

function assert(holds, message) {
  if (!holds) throw new Error(message ?? "it does not hold");
}

/** Compares values, and arrays of arrays of values. */
function same(a, b) {
  if (!Array.isArray(a) || !Array.isArray(b)) return Object.is(a, b);
  return a.length === b.length && a.every((item, i) => same(item, b[i]));
}

function fits(thrown, expected, message = "") {
  assert(thrown, `nothing was thrown ${message}`);
  const { error } = thrown;
  const holds =
    expected === undefined ||
    (expected instanceof RegExp
      ? expected.test(String(error))
      : expected === Error || expected.prototype instanceof Error
        ? error instanceof expected
        : expected(error));
  assert(holds, `not the expected error: ${error} ${message}`);
}

export default Object.assign(assert, {
  ok: assert,
  equal: (actual, expected) => assert(Object.is(actual, expected), `${shown(actual)} is not ${shown(expected)}`),
  deepEqual: (actual, expected) => assert(same(actual, expected), `${shown(actual)} is not ${shown(expected)}`),
  notEqual: (actual, other) => assert(!Object.is(actual, other), `${shown(actual)} is the other`),
  match: (text, pattern) => assert(pattern.test(text), `${shown(text)} does not match ${pattern}`),
  throws(fn, expected, message) {
    let thrown;
    try {
      fn();
    } catch (error) {
      thrown = { error };
    }
    fits(thrown, expected, message);
  },
  async rejects(promise, expected, message) {
    const ended = (typeof promise === "function" ? promise() : promise).then(() => undefined);
    fits(await ended.catch((error) => ({ error })), expected, message);
  },
});
