// What tests written for Node import from node:test, as far as those that also run in browsers use it.

/** A file, or a describe. */
class Group {
  tests = [];
  ends = [];
  constructor(name, outer) {
    this.name = name;
    this.outer = outer;
  }
}

let group;

export function describe(name, fn) {
  const outer = group;
  group = new Group(outer.name ? `${outer.name}: ${name}` : name, outer);
  outer.tests.push(group);
  fn();
  group = outer;
}

export function test(name, fn) {
  group.tests.push({ name: group.name ? `${group.name}: ${name}` : name, fn });
}

export const afterEach = (fn) => void group.ends.push(fn);

export const mock = {
  method(object, name, fn = object[name]) {
    const before = Object.getOwnPropertyDescriptor(object, name);
    const calls = [];
    object[name] = function (...args) {
      calls.push({ arguments: args });
      return fn.apply(this, args);
    };
    return {
      mock: {
        calls,
        callCount: () => calls.length,
        mockImplementation: (other) => void (fn = other),
        restore: () => void (before ? Object.defineProperty(object, name, before) : delete object[name]),
      },
    };
  },
};

const context = { diagnostic() {} };

async function run(tests, ends, leftOut, total) {
  for (const it of tests) {
    if (it instanceof Group) {
      await run(it.tests, [...it.ends, ...ends], leftOut, total);
      continue;
    }
    const { name, fn } = it;
    if (leftOut.some((text) => name.includes(text))) {
      total.leftOut++;
      continue;
    }
    try {
      await fn(context);
      for (const end of ends) await end();
      total.passed++;
    } catch (error) {
      total.failures.push(`${name}: ${error}\n${error?.stack}`);
    }
  }
}

/** Imports a file and runs its tests, one after another, but for those with one of these texts in their names. */
export async function runFile(file, leftOut) {
  group = new Group("");
  const total = { passed: 0, leftOut: 0, failures: [] };
  await import(file);
  await run(group.tests, group.ends, leftOut, total);
  return total;
}
