// What tests written for Node import from node:fs and node:fs/promises: reading what the server has.

/** The text of a file at a URL, or its bytes. */
export function readFileSync(url, encoding) {
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.overrideMimeType("text/plain; charset=x-user-defined"); // a character for each byte
  request.send();
  if (request.status !== 200) throw new Error(`${url}: ${request.status}`);
  const bytes = Uint8Array.from(request.responseText, (c) => c.charCodeAt(0) & 255);
  bytes.toString = () => new TextDecoder().decode(bytes);
  return encoding ? bytes.toString() : bytes;
}

export const readFile = async (url, encoding) => readFileSync(url, encoding);
