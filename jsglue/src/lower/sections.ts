// The sections of a module, as far as they must be known before the rewriter is loaded.

/** Yields the id of each section of a module, and its contents. Stops where the bytes are no module's. */
export function* sections(bytes: Uint8Array): Generator<[id: number, contents: Uint8Array]> {
  for (let at = 8; at < bytes.length;) {
    const id = bytes[at++]!;
    let size = 0;
    for (let shift = 0, byte = 128; byte >= 128 && shift < 35; shift += 7) {
      byte = bytes[at++] ?? 0;
      size += (byte & 127) * 2 ** shift;
    }
    yield [id, bytes.subarray(at, at + size)];
    at += size;
  }
}

const IMPORTS = 2;
const TAGS = 13;

/** Whether a module may have tags: others certainly have none. */
export function mayHaveTags(bytes: Uint8Array): boolean {
  for (const [id, contents] of sections(bytes)) {
    // An imported tag is 4, 0, and a type.
    if (id === TAGS || (id === IMPORTS && contents.some((b, k) => b === 4 && contents[k + 1] === 0))) return true;
  }
  return false;
}
