// Binaryen's Asyncify: the guest, rewritten so that its functions can return in the middle and later go on there when
// called again. Each fiber has a buffer in the guest's memory for that. There is only one engine stack, so a switch
// does not involve the event loop, and the ring is a plain loop in JavaScript. It blocks the page, too.

import { bytes } from "../host.js";

const BUFFER = 128; // bytes a fiber: at most two frames
const HEAD = 8; // of these: the end of the saved frames, and their limit

export async function open({ wait }) {
  let current;
  let unwinding = false;
  let rewinding = false;
  const unwind = () => {
    unwinding = true;
    start_unwind(current.buffer);
  };
  const rewound = () => {
    if (!rewinding) return false;
    rewinding = false;
    stop_rewind();
    return true;
  };
  const { instance } = await WebAssembly.instantiate(await bytes("guest.asyncify.wasm"), {
    fiberfill: {
      yield: () => {
        if (!rewound()) unwind();
      },
    },
    env: {
      wait: (id) => {
        if (rewound()) return current.value;
        const fiber = current;
        wait(id).then((value) => {
          fiber.value = value;
          step(fiber);
        });
        unwind();
        return 0;
      },
    },
  });
  const {
    memory,
    turns,
    call,
    compute,
    asyncify_start_unwind: start_unwind,
    asyncify_stop_unwind: stop_unwind,
  } = instance.exports;
  const { asyncify_start_rewind: start_rewind, asyncify_stop_rewind: stop_rewind } = instance.exports;

  const free = [];
  let top = memory.buffer.byteLength;
  function begin(fn, arg, done) {
    let buffer = free.pop();
    if (buffer === undefined) {
      if (top + BUFFER > memory.buffer.byteLength) memory.grow(16);
      buffer = top;
      top += BUFFER;
    }
    const head = new Int32Array(memory.buffer, buffer, 2);
    head[0] = buffer + HEAD;
    head[1] = buffer + BUFFER;
    return { fn, arg, done, buffer, value: 0, started: false };
  }

  /** Runs a fiber further; returns whether it has ended. */
  function step(fiber) {
    current = fiber;
    if (fiber.started) {
      rewinding = true;
      start_rewind(fiber.buffer);
    }
    fiber.started = true;
    const result = fiber.fn(fiber.arg);
    if (unwinding) {
      unwinding = false;
      stop_unwind();
      return false;
    }
    free.push(fiber.buffer);
    fiber.done(result);
    return true;
  }

  let ring = [];
  return {
    turns(n) {
      return new Promise((done) => {
        if (ring.length === 0) queueMicrotask(goRound);
        ring.push(begin(turns, n, done));
      });
    },
    call(id) {
      return new Promise((done) => step(begin(call, id, done)));
    },
    compute,
  };

  function goRound() {
    while (ring.length > 0) {
      let live = 0;
      for (let i = 0; i < ring.length; i++) if (!step(ring[i])) ring[live++] = ring[i];
      ring.length = live;
    }
  }
}
