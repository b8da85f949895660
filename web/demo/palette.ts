// How a state looks, as 8 by 8 pixels of two colours. The colours come from the style sheet, for light and dark. The
// patterns help people who cannot tell the colours apart; the legend shows the same ones.

import { CANCELLED, FAILED, QUEUED, stateNames } from "./recording.js";

/** Whether the pixel at (x, y) of a state has its second colour. */
function second(state: number, x: number, y: number): boolean {
  switch (state) {
    case QUEUED:
      return (x & 3) === 0 && (y & 3) === 0; // dotted
    case FAILED:
      return ((x + y) & 7) > 4; // hatched
    case CANCELLED:
      return (x & 7) > 2; // striped
    default:
      return false;
  }
}

/**
 * The pixels of all states, at index state << 6 | (y & 7) << 3 | x & 7. Each is an ImageData pixel, read as one number.
 */
export function palette(): Uint32Array {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): number => {
    const [, r, g, b] = /^#(..)(..)(..)$/.exec(style.getPropertyValue(name).trim())!;
    return (255 << 24) | (parseInt(b!, 16) << 16) | (parseInt(g!, 16) << 8) | parseInt(r!, 16);
  };
  const pixels = new Uint32Array(stateNames.length << 6);
  stateNames.forEach((name, state) => {
    const colours = [colour(`--${name}`), colour(`--${name}-2`)];
    for (let i = 0; i < 64; i++) pixels[(state << 6) | i] = colours[second(state, i & 7, i >> 3) ? 1 : 0]!;
  });
  return pixels;
}
