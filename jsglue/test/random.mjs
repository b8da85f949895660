/** Numbers below n, from a seed. */
export function random(seed) {
  let x = (seed * 2654435761 + 12345) >>> 0 || 1;
  return (n) => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) % n;
  };
}
