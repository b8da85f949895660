// Reads back what embed.go wrote: the bytes of a wasm file from a string of printable ASCII.
// A character from "#" on is a byte value below 90, "!" stands for the one that would be a backslash,
// "}" and "~" say that 90 or 180 is to be added to the next.
export default (text, length) => {
  const bytes = new Uint8Array(length)
  let at = 0
  let add = 0
  for (let i = 0; i < text.length; i++) {
    const value = text.charCodeAt(i) - 35
    if (value > 89) {
      add = (value - 89) * 90
    } else {
      bytes[at++] = add + (value < 0 ? 57 : value)
      add = 0
    }
  }
  return bytes
}
