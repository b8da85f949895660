// The operations of the four systems (include/fiberfill.h) in fiberfill, for the costs.

import { bytes } from "./host.js";

/**
 * Returns what performs an operation n times: "fibers1.resume". With `plainly` that is a plain call, otherwise a call
 * of fiberfill's exports. Each process has the guest of one system.
 */
export function systems(options, plainly) {
  const guests = {};
  return async (operation, n) => {
    const [system, name] = operation.split(".");
    if (!guests[system]) {
      const wasm = await bytes(`costs/${system}.wasm`);
      const { exports, instance } = await globalThis.fiberfill.instantiate(wasm, {}, options);
      guests[system] = plainly ? instance.exports : exports;
      await guests[system].init();
    }
    return guests[system][name](n);
  };
}
