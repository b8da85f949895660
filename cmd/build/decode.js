// Decodes what embed.go wrote into the bytes of a wasm file. It uses no TextEncoder, which Jest's jsdom lacks.
export default (text) => {
  const { length } = text;
  const bytes = new Uint8Array(length);
  let size = 0;
  let more = -36;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code < 36) more += 91;
    else {
      bytes[size++] = code + more;
      more = -36;
    }
  }
  return bytes.subarray(0, size);
};
