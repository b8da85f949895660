// A guest that fetches in straight-line AssemblyScript.

import { fetch_text } from "./env";
import { sleep_ms } from "./fiberfill";

/** The value of an item: {"id":1,"value":4711,...}. -1: no such JSON. */
export function item(id: i32): i32 {
  sleep_ms(1);
  const body = fetch("/item?id=" + id.toString());
  const name = '"value":';
  const at = body.indexOf(name);
  return at < 0 ? -1 : I32.parseInt(body.substring(at + name.length));
}

/** Fetches a text, all that there is of it. */
function fetch(url: string): string {
  // Objects stay while the fiber waits: the collector runs only when it is asked to (--runtime minimal).
  const name = String.UTF8.encode(url);
  let body = new ArrayBuffer(256);
  let length = fetch_text(changetype<usize>(name), name.byteLength, changetype<usize>(body), body.byteLength);
  if (length > body.byteLength) {
    body = new ArrayBuffer(length);
    length = fetch_text(changetype<usize>(name), name.byteLength, changetype<usize>(body), body.byteLength);
  }
  return String.UTF8.decodeUnsafe(changetype<usize>(body), length);
}
