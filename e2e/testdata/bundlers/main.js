// What TestBundlers builds: a call on each kind of stack, and a guest with fibers of its own. The page then says what
// they returned. So every part of the package that is loaded on demand has been found.
import { current, instantiateStreaming, suspending } from "fiberfill";

async function lines(stacks) {
  const bytes = (address, length) => new Uint8Array(instance.exports.memory.buffer, address, length);
  const fetch_text = suspending(
    async (url, length) => {
      const text = new TextDecoder().decode(bytes(url, length));
      const response = await fetch(text, { signal: current().signal });
      return new Uint8Array(await response.arrayBuffer());
    },
    (body, url, length, buffer, capacity) => {
      bytes(buffer, capacity).set(body.subarray(0, capacity));
      return body.length;
    },
  );
  const { instance, exports } = await instantiateStreaming(fetch("/lines.wasm"), { env: { fetch_text } }, { stacks });
  return exports.lines("/text");
}

async function sum() {
  const env = { note() {}, wait: suspending(async (n) => n), fail() {}, call() {} };
  const { exports } = await instantiateStreaming(fetch("/fibers1.wasm"), { env });
  await exports.init();
  return exports.sum(100);
}

const output = document.createElement("output");
output.textContent = JSON.stringify([await lines("jspi"), await lines("unwind"), await sum()]);
document.body.append(output);
