// The guest, with its types: examples/c-fetch, which is plain C.

import { current, instantiateStreaming, suspending, type Instantiated } from "fiberfill";
import url from "../../c-fetch/guest.wasm?url";

/** What the guest exports, as its callers see it. */
export interface Guest {
  memory: WebAssembly.Memory;
  /** Fetches an item and returns its value; -1: it is too long, -2: it is no item, -3: it is another item. */
  item(url: string): number;
}

/** Loads the guest. */
export async function load(): Promise<Instantiated<Guest>> {
  const bytes = (address: number, length: number) => new Uint8Array(guest.exports.memory.buffer, address, length);
  const fetch_text = suspending(
    async (url: number, length: number) => {
      const { signal } = current()!;
      const text = new TextDecoder().decode(bytes(url, length)); // read arguments before the first await
      const response = await fetch(text, { signal }); // aborted when the fiber is cancelled
      return new Uint8Array(await response.arrayBuffer());
    },
    (body: Uint8Array, _url: number, _length: number, buffer: number, capacity: number) => {
      bytes(buffer, capacity).set(body.subarray(0, capacity)); // write results when the fiber goes on
      return body.length;
    },
  );
  const guest = await instantiateStreaming<Guest>(fetch(url), { env: { fetch_text, log() {} } });
  return guest;
}
