// The workloads, for any contestant. A contestant's module exports open({ wait }), which makes an instance and resolves
// with its functions: turns(n), call(id) and compute(n) of guest.wat or, where JavaScript does not see the single
// calls, whole groups and waves of them. A contestant of the costs has cost(operation, n).

import { later } from "./host.js";
import { Waits, valueOf } from "./waits.js";

/**
 * Runs a job in a process that has run nothing before. Returns what was measured, in nanoseconds or milliseconds: {
 * contestant: { name: [sample, ...] } }. Before each sample of a switch it awaits mayGoOn: other processes may have
 * their turn then.
 */
export async function run(job, mayGoOn = () => {}) {
  const measured = {};
  const note = (name, sample, contestant = job.contestants[0]) => {
    const of = (measured[contestant] ??= {});
    (of[name] ??= []).push(sample);
  };
  await workloads[job.workload](job, note, mayGoOn);
  return measured;
}

const workloads = { switch: switches, start, fetch: fetches, compute, first, alive, calls, costs };

async function open(name, wait) {
  const { open } = await import(`./contestants/${name}.js`);
  return open({ wait });
}

const never = () => {
  throw new Error("this workload has no waits");
};

/** Lets the event loop do its deferred work now, so that it does not disturb the measurement. */
const turn = () => new Promise(later);

function expect(what, got, want) {
  if (got !== want) throw new Error(`${what}: got ${got}, want ${want}`);
}

// --- switch: each of some fibers yields n times; ns a yield

async function switches({ contestants: [name], sizes, steps, samples, warmup }, note, mayGoOn) {
  const contestant = await open(name, never);
  for (const width of sizes) {
    const n = Math.ceil(steps / width);
    for (let i = -warmup; i < samples; i++) {
      await mayGoOn();
      await turn();
      const began = performance.now();
      const hops = contestant.group ? await tokens(contestant, width, n) : await group(contestant, width, n);
      const ms = performance.now() - began;
      if (i >= 0) note(`switch-${width}`, (ms * 1e6) / hops);
    }
  }
}

function group({ turns }, width, n) {
  return new Promise((resolve, reject) => {
    let left = width;
    const done = (yields) => {
      if (yields !== n) reject(new Error(`a fiber has yielded ${yields} times, want ${n}`));
      if (--left === 0) resolve(width * n);
    };
    for (let i = 0; i < width; i++) turns(n).then(done, reject);
  });
}

/** The ring of goroutines has one more place, which starts the token. */
async function tokens(contestant, width, n) {
  expect("the token", await contestant.group(width, n), width * n);
  return (width + 1) * n;
}

// --- start: `width` calls at once, each of which waits once; ns a call

async function start({ contestants: [name], sizes, calls, samples, warmup }, note) {
  for (const width of sizes) {
    const waits = new Waits();
    const contestant = await open(name, waits.wait);
    const waves = Math.max(1, Math.floor(calls / width));
    await turn();
    const began = performance.now();
    await wave(contestant, waits, width, 1);
    note(`start-${width}-cold`, ((performance.now() - began) * 1e6) / width);
    // Warms up the code. That takes tens of thousands of calls, which raw JSPI survives only in small waves.
    const small = Math.min(width, 1000);
    for (let i = 0; i < warmup; i++) await wave(contestant, waits, small, Math.ceil(calls / small));
    for (let i = 0; i < samples; i++) {
      await turn();
      const began = performance.now();
      await wave(contestant, waits, width, waves);
      const ms = performance.now() - began;
      note(`start-${width}`, (ms * 1e6) / (width * waves));
    }
  }
}

async function wave(contestant, waits, width, waves) {
  const sum = total(width);
  if (contestant.waves) {
    expect("the sum of all calls", await contestant.waves(width, waves), Math.imul(sum, waves));
    return;
  }
  for (let i = 0; i < waves; i++) {
    waits.expect(width);
    expect("the sum of all calls", await all(width, contestant.call), sum);
  }
}

/** Calls call(0) to call(n - 1) at once; resolves with the sum of their results. */
function all(n, call) {
  return new Promise((resolve, reject) => {
    let left = n;
    let sum = 0;
    const done = (value) => {
      sum = (sum + value) | 0;
      if (--left === 0) resolve(sum);
    };
    for (let id = 0; id < n; id++) call(id).then(done, reject);
  });
}

function total(n) {
  let sum = 0;
  for (let id = 0; id < n; id++) sum = (sum + valueOf(id) + 1) | 0;
  return sum;
}

// --- fetch: a fetch a call, at most `limit` in flight; ms for all. The contestants alternate in one tab, because a
// network varies by more than they differ. A large wave counts once: it is a large enough sample.

async function fetches({ contestants: names, sizes, samples, warmup, origin, limit }, note) {
  let inFlight = 0;
  let most = 0;
  const item = async (id) => {
    most = Math.max(most, ++inFlight);
    const response = await fetch(`${origin}/item?id=${id}`);
    const { value } = await response.json();
    inFlight--;
    return value;
  };
  const contestants = [];
  for (const name of names) contestants.push({ name, call: (await open(name, item)).call });
  const measure = async ({ name, call }, n) => {
    await turn();
    const began = performance.now();
    // fiberfill bounds the fetches itself; the other contestants need help.
    const sum = name === "fiberfill" ? await all(n, call) : await bounded(n, limit, call);
    const ms = performance.now() - began;
    let want = 0;
    for (let id = 0; id < n; id++) want = (want + ((id * 2654435761 + 12345) % 1000003) + 1) | 0;
    expect("the sum of all items", sum, want);
    if (most > limit) throw new Error(`${most} fetches were in flight`);
    return ms;
  };
  for (let i = 0; i < warmup; i++) for (const contestant of contestants) await measure(contestant, limit);
  for (const n of sizes) {
    for (let i = 0; i < (n > limit ? 1 : samples); i++) {
      for (const contestant of i & 1 ? contestants.toReversed() : contestants) {
        note(`fetch-${n}`, await measure(contestant, n), contestant.name);
      }
    }
  }
}

/** Like all, with at most `limit` calls at a time. */
async function bounded(n, limit, call) {
  let next = 0;
  let sum = 0;
  const lane = async () => {
    while (next < n) {
      const value = await call(next++);
      sum = (sum + value) | 0;
    }
  };
  await Promise.all(Array.from({ length: Math.min(n, limit) }, lane));
  return sum;
}

// --- compute: a call that takes 10 ms and calls no import; ms a call. All contestants share one tab, because two tabs
// differ by more than the hundredth that is looked for.

async function compute({ contestants: names, samples, warmup }, note) {
  const contestants = [];
  for (const name of names) contestants.push({ name, compute: (await open(name, never)).compute });
  const plain = contestants.find(({ name }) => name === "raw").compute;
  const probe = 1_000_000;
  let fastest = Infinity; // of many, since the first are not optimised yet
  for (let i = 0; i < 20; i++) {
    const began = performance.now();
    plain(probe);
    fastest = Math.min(fastest, performance.now() - began);
  }
  const n = Math.round((probe * 10) / fastest);
  const want = plain(n);
  // So that the caller of compute is optimised.
  for (const { compute } of contestants) for (let i = 0; i < 3000; i++) await compute(1);
  for (let i = -warmup; i < samples; i++) {
    const order = i & 1 ? contestants.toReversed() : contestants;
    for (const { name, compute } of order) {
      await turn();
      const began = performance.now();
      const result = await compute(n);
      const ms = performance.now() - began;
      expect(`what ${name} computes`, result, want);
      if (i >= 0) note("compute", ms, name);
    }
  }
}

// --- first: ms from nothing to the result of the first call, which waits once

async function first({ contestants: [name] }, note) {
  const waits = new Waits();
  const { open } = await import(`./contestants/${name}.js`); // loaded before, like the user's own code
  const began = performance.now();
  const contestant = await open({ wait: waits.wait });
  await wave(contestant, waits, 1, 1);
  note("first", performance.now() - began);
}

// --- how far it goes. These end at a limit, or with the tab: then the last reported progress is the result.

const progress = (name, n) => console.log(`progress ${name} ${n}`);

/** More and more calls that all wait. In the end all are released, and must give the right answer. */
async function alive({ contestants: [name], limit, seconds }, note) {
  const waits = new Waits();
  waits.held = true;
  const contestant = await open(name, waits.wait);
  const until = performance.now() + seconds * 1000;
  let n = 0;
  let left = 0;
  let sum = 0;
  let finished;
  const ended = new Promise((resolve, reject) => (finished = { resolve, reject }));
  const done = (value) => {
    sum = (sum + value) | 0;
    if (--left === 0) finished.resolve();
  };
  while (n < limit && performance.now() < until) {
    const step = Math.min(limit - n, n < 50_000 ? 1000 : (n / 10) | 0); // fine steps where stacks run out
    if (contestant.hold) {
      await contestant.hold(step);
      n += step;
    } else {
      waits.expect(step);
      left += step;
      for (const end = n + step; n < end; n++) contestant.call(n).then(done, finished.reject);
    }
    await turn();
    progress("alive", n);
  }
  if (contestant.release) sum = await contestant.release();
  else {
    waits.release();
    await ended;
  }
  expect("the sum of all calls", sum, total(n));
  note("alive", n);
}

/** Waves of 1,000 calls that all end. */
async function calls({ contestants: [name], limit, seconds }, note) {
  const waits = new Waits();
  const contestant = await open(name, waits.wait);
  const until = performance.now() + seconds * 1000;
  let n = 0;
  while (n < limit && performance.now() < until) {
    await wave(contestant, waits, 1000, 1);
    n += 1000;
    if (n % 10_000 === 0) {
      await turn();
      progress("calls", n);
    }
  }
  note("calls", n);
}

// --- costs: single operations, in turn; ns an operation. bench/costs/measure.go does the same natively.

async function costs({ contestants: [name], operations, samples, warmup, millis }, note) {
  const { cost } = await open(name); // nothing but the costs: without another guest
  const once = async (operation, n) => {
    await turn();
    const began = performance.now();
    const sum = await cost(operation, n);
    const ms = performance.now() - began;
    expect(`the sum of ${operation}`, sum, n);
    return ms;
  };
  // Repetitions per sample, calibrated twice: the first time loads a guest, and optimised code is faster.
  const times = {};
  for (const operation of operations) {
    times[operation] = 100;
    while (Math.min(await once(operation, times[operation]), await once(operation, times[operation])) < millis)
      times[operation] *= 4;
  }
  for (let i = -warmup; i < samples; i++) {
    for (const operation of i & 1 ? operations.toReversed() : operations) {
      const ms = await once(operation, times[operation]);
      if (i >= 0) note(operation, (ms * 1e6) / times[operation]);
    }
  }
}
