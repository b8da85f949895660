// What tests written for Node import from node:test, as far as those that also run in browsers use it.

const tests = [];

export function test(name, fn) {
  tests.push({ name, fn });
}

/** Runs all tests, one after another. */
export async function run() {
  const failures = [];
  for (const { name, fn } of tests) {
    try {
      await fn();
    } catch (error) {
      failures.push(`${name}: ${error}\n${error?.stack}`);
    }
  }
  return { passed: tests.length - failures.length, failures };
}
