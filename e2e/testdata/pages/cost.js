// The same fetches by fibers and by plain JavaScript.
import { host } from "./guests.js";

const item = (id) => `${location.origin}/item?id=${id}`;
const value = (id) => (id * 2654435761 + 12345) % 1000003;
const wrong = (values) => values.filter((got, id) => got !== value(id)).length;

let guest;
async function load(change = (fn) => fn) {
  const { imports, attach } = host(
    (fn) => fiberfill.suspending(change(fn)),
    () => fiberfill.current().signal,
  );
  const { instance, exports } = await fiberfill.instantiateStreaming(fetch("/examples/c-fetch/guest.wasm"), imports);
  attach(instance);
  return exports;
}

async function plainly(id) {
  const response = await fetch(item(id));
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return (await response.json()).value;
}

async function timed(fn) {
  const begin = performance.now();
  const values = await fn();
  const ms = performance.now() - begin;
  if (wrong(values) > 0) throw new Error(`${wrong(values)} of ${values.length} values are wrong`);
  return ms;
}

// Replaces the network with the server's answers, each in a task of its own, like the responses of fetches. This part
// is the same with and without fibers, so the difference is the cost of fibers.
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const channel = new MessageChannel();
const asked = [];
channel.port1.onmessage = () => asked.shift()();
async function answer(url) {
  await new Promise((resolve) => {
    asked.push(resolve);
    channel.port2.postMessage(0);
  });
  const id = Number(url.slice(url.indexOf("=") + 1));
  return encoder.encode(`{"id":${id},"value":${value(id)},"title":"Item ${id}"}\n`);
}

let local;
async function loadLocal() {
  let memory;
  const fetch_text = fiberfill.suspending(async (url, length, buffer, capacity) => {
    const body = await answer(decoder.decode(new Uint8Array(memory.buffer, url, length)));
    new Uint8Array(memory.buffer, buffer, capacity).set(body);
    return body.length;
  });
  const { exports, instance } = await fiberfill.instantiateStreaming(fetch("/examples/c-fetch/guest.wasm"), {
    env: { fetch_text, log() {} },
  });
  memory = instance.exports.memory;
  return exports;
}
const plainlyLocal = async (id) => JSON.parse(decoder.decode(await answer(item(id)))).value;

const all = (count, fn) => Promise.all(Array.from({ length: count }, (_, id) => fn(id)));

globalThis.cost = {
  // Returns the milliseconds for count fetches, all called at once.
  async fibers(count) {
    guest ??= await load();
    return timed(() => all(count, (id) => guest.item(item(id))));
  },
  plain: (count) => timed(() => all(count, plainly)),

  // The same without the network.
  async localFibers(count) {
    local ??= await loadLocal();
    return timed(() => all(count, (id) => local.item(item(id))));
  },
  localPlain: (count) => timed(() => all(count, plainlyLocal)),

  // Makes count calls at once, each with a fetch. Returns how many have the right value, the most fetches in flight,
  // and how many fibers are left.
  async calls(count) {
    // Else more are started when none has moved for a second, which happens to fetches on a busy machine.
    fiberfill.limits({ hard: 1000 });
    let out = 0;
    let most = 0;
    const guest = await load((fetchText) => async (...args) => {
      most = Math.max(most, ++out);
      try {
        return await fetchText(...args);
      } finally {
        out--;
      }
    });
    const results = await Promise.allSettled(Array.from({ length: count }, (_, id) => guest.item(item(id))));
    return {
      right: results.filter((result, id) => result.value === value(id)).length,
      most,
      left: fiberfill.fibers().length,
    };
  },
};
