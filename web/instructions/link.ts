// A program in the fragment of the page's address: one of ours by its name, any other as its compressed text.

export async function toFragment(text: string, ours: string | undefined): Promise<string> {
  if (ours) return `#${ours}`;
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return `#wat=${base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** The name of one of our programs, or a text. */
export async function fromFragment(fragment: string): Promise<{ name: string } | { text: string }> {
  const base64 = /^#wat=(.*)$/.exec(fragment)?.[1];
  if (base64 === undefined) return { name: fragment.slice(1) };
  const bytes = Uint8Array.from(atob(base64.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  return { text: new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))) };
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}
