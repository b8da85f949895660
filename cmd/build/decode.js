// Decodes what embed.go wrote into the bytes of a wasm file, in place. A function per byte would cost twice as much.
export default (text) => {
  const bytes = new TextEncoder().encode(text);
  const { length } = bytes;
  let size = 0;
  let more = -36;
  for (let i = 0; i < length; i++) {
    const code = bytes[i];
    if (code < 36) more += 91;
    else {
      bytes[size++] = code + more;
      more = -36;
    }
  }
  return bytes.subarray(0, size);
};
