// Objects of another window, here a frame, are recognised, although their classes are not this window's.
import * as fiberfill from "/dist/npm/esm/index.js";
import { WebAssembly as ours } from "/dist/npm/esm/webassembly.js";
import { check, equal, rejection } from "./check.js";

const url = "/wat/rules.wasm";
const imports = (wait) => {
  const env = { direct: (x) => x };
  for (const name of ["wait", "wait_i64", "wait_f32", "wait_f64", "wait_ref", "wait_all"]) env[name] = wait;
  return { env };
};

globalThis.windows = {
  async run() {
    const frame = document.createElement("iframe");
    document.body.append(frame);
    const other = frame.contentWindow;
    check(other.WebAssembly !== WebAssembly, "the frame has classes of its own");

    const later = async (x) => x + 1;
    const { exports } = await fiberfill.instantiateStreaming(other.fetch(url), imports(fiberfill.suspending(later)));
    equal(await exports.wait(1), 2, "a guest in a Response of the frame");

    const yields = { fiberfill: { yield() {}, sleep_ms() {} } };
    const { instance } = await ours.instantiateStreaming(other.fetch(url), {
      ...imports(new ours.Suspending(later)),
      ...yields,
    });
    const call = ours.promising(instance.exports.wait)(1);
    equal(
      [call.name, await call],
      [`wait#${call.id}`, 2],
      "a call in fiberfill/webassembly of a guest in a Response of the frame",
    );

    const traps = await other.WebAssembly.instantiateStreaming(other.fetch(url), { ...imports(() => 0), ...yields });
    const trap = () => traps.instance.exports.trap();
    for (const wait of [fiberfill.suspending(trap), trap]) {
      const guest = await fiberfill.instantiateStreaming(fetch(url), imports(wait));
      const error = await rejection(guest.exports.wait(1));
      equal(
        [error.code, error.cause instanceof other.WebAssembly.RuntimeError],
        ["trap", true],
        "the trap of a function of the frame",
      );
    }

    const module = await other.WebAssembly.compileStreaming(other.fetch(url));
    equal(
      (await rejection(fiberfill.instantiate(module, imports(fiberfill.suspending(later))))).code,
      "foreign-module",
    );
  },
};
