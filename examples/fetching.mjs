// What the tests of the fetching guests share: an instance whose fetches are answered when the test says so.

import * as fiberfill from "../web/dist/npm/esm/index.js";

/** The answer to /item?id=. */
export const json = (id) => JSON.stringify({ id, value: 1000 + id, title: "x".repeat(id) });

/** Its id. */
export const idOf = ({ url }) => Number(url.split("=")[1]);

/**
 * Instantiates a guest. What `instantiate` returns has two properties more: `asked`, the fetches that wait, with `url`,
 * `answer(text)` and `fail(error)`; and `aborted`, the URLs of those whose fibers were cancelled.
 */
export async function fetching(bytes, options, more = {}) {
  const g = { asked: [], aborted: [] };
  const memory = (at, length) => new Uint8Array(g.instance.exports.memory.buffer, at, length);
  const fetch_text = fiberfill.suspending(
    (at, length) => {
      const url = new TextDecoder().decode(memory(at, length));
      fiberfill.current().signal.addEventListener("abort", () => g.aborted.push(url));
      return new Promise((answer, fail) => g.asked.push({ url, answer, fail }));
    },
    (text, at, length, buffer, capacity) => {
      const body = new TextEncoder().encode(text);
      memory(buffer, capacity).set(body.subarray(0, capacity));
      return body.length;
    },
  );
  return Object.assign(g, await fiberfill.instantiate(bytes, { env: { fetch_text, ...more } }, options));
}

/** Resolves when `condition` holds, which depends on nothing but fibers that can run. */
export async function until(condition) {
  while (!condition()) await new Promise(setImmediate);
}

/**
 * Calls `item` for the ids 0 to n - 1 and answers when all wait, the last one first; a guest may ask once more where
 * the body was longer than its buffer. Calls `waiting` when all wait. Returns the values.
 */
export async function items(g, n, waiting = () => {}, call = (id) => g.exports.item(`/item?id=${id}`)) {
  const calls = Promise.all(Array.from({ length: n }, (_, id) => call(id)));
  let ended = false;
  const end = () => (ended = true);
  void calls.then(end, end);
  await until(() => ended || g.asked.length === n);
  waiting();
  const answerAll = () => {
    for (const fetch of g.asked.splice(0).reverse()) fetch.answer(json(idOf(fetch)));
  };
  await until(() => (answerAll(), ended));
  return calls;
}

/** What `items` returns if every call got its own answer. */
export const values = (n) => Array.from({ length: n }, (_, id) => 1000 + id);
