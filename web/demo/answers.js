// The service worker that answers for the items where the server has only files: a delay and a failure for each item,
// as the page asks for them. Nothing leaves the browser.

const scope = new URL(registration.scope).pathname;
const held = new Map(); // of the items that are released by the page: what resolves them, or that they are released

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("message", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const { pathname, searchParams } = new URL(event.request.url);
  const routes = { item, hold, release };
  const route = pathname.startsWith(scope) && routes[pathname.slice(scope.length)];
  if (route) event.respondWith(route(searchParams, event.request.signal));
});

async function item(query, signal) {
  const [id, ms, fail] = ["id", "ms", "fail"].map((name) => Number(query.get(name)));
  await delay(ms / 2 + spread(id, 1) * ms, signal);
  return spread(id, 2) * 100 < fail ? new Response(`item ${id} fails`, { status: 500 }) : answer(id);
}

function hold(query) {
  const id = Number(query.get("id"));
  return new Promise((resolve) => {
    if (held.delete(id)) resolve(answer(id));
    else held.set(id, () => resolve(answer(id)));
  });
}

function release(query) {
  const id = Number(query.get("id"));
  const resolve = held.get(id);
  if (resolve) {
    held.delete(id);
    resolve();
  } else {
    held.set(id, undefined);
  }
  return new Response(null, { status: 204 });
}

function answer(id) {
  const value = (id * 2654435761 + 12345) % 1000003;
  const body = JSON.stringify({ id, value, title: `Item ${id}` });
  return new Response(body, { headers: { "Content-Type": "application/json", "Cache-Control": "no-store" } });
}

/** A number from 0 to 1 for an item; another salt gives another one. */
function spread(id, salt) {
  let x = Math.imul(id + 1, 0x9e3779b1) ^ Math.imul(salt, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
  x = Math.imul(x ^ (x >>> 12), 0x297a2d39);
  return ((x ^ (x >>> 15)) >>> 0) / 2 ** 32;
}

function delay(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
