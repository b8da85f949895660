// Checks. A failed check throws, which fails the test with the text and the place.

const show = (value) => {
  if (value instanceof Error) return `${value.name}${value.code ? ` ${value.code}` : ""}: ${value.message}`;
  return typeof value === "object" && value !== null
    ? JSON.stringify(value, (_, v) => (typeof v === "bigint" ? `${v}n` : v))
    : String(value);
};

export function check(condition, what) {
  if (!condition) throw new Error(`not so: ${what}`);
}

/** Compares values, and arrays of them, to any depth. */
export function equal(got, want, what = "value") {
  const alike = (a, b) =>
    Array.isArray(b) ? Array.isArray(a) && a.length === b.length && b.every((x, i) => alike(a[i], x)) : Object.is(a, b);
  if (!alike(got, want)) throw new Error(`${what}:\n got ${show(got)}\nwant ${show(want)}`);
}

/** Returns the reason that a promise rejects with. A promise that resolves is an error. */
export async function rejection(promise) {
  let value;
  try {
    value = await promise;
  } catch (reason) {
    return reason;
  }
  throw new Error(`resolved with ${show(value)}, should have rejected`);
}

/** Returns what a function throws. A function that returns is an error. */
export function thrown(fn) {
  let value;
  try {
    value = fn();
  } catch (error) {
    return error;
  }
  throw new Error(`returned ${show(value)}, should have thrown`);
}

/** Checks that an error is a FiberError with this code, and that its message has these words. */
export function refusal(error, code, ...words) {
  check(
    error instanceof fiberfill.FiberError && error instanceof Error,
    `${show(error)} is a FiberError with code ${code}`,
  );
  equal(error.code, code, `the code of "${error.message}"`);
  for (const word of words) check(error.message.includes(word), `"${error.message}" mentions "${word}"`);
}
