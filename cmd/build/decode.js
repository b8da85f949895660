// Decodes the hexadecimal that embed.go wrote into the bytes of a wasm file. Engines from before 2025 lack fromHex.
export default (text) => Uint8Array.fromHex?.(text) ?? Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
