// Reads back what embed.go wrote: the bytes of a wasm file from hexadecimal. Engines of before 2025 lack the function.
export default (text) => Uint8Array.fromHex?.(text) ?? Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
