import { STATE_BITS } from "./trellis-codebook.ts";

/**
 * Writes the symbols of a path: the one of sample t at bit 9−k + k·t of an LSB-first stream, modulo its length,
 * so that the state after sample t is the nine-bit window at bit k·t.
 */
export function writeSymbols(states: Uint16Array, rate: number, stream: Uint8Array, totalBits: number): void {
  for (let t = 0; t < states.length; t++) {
    const symbol = states[t]! >> (STATE_BITS - rate);
    for (let i = 0; i < rate; i++) {
      const bit = (STATE_BITS - rate + rate * t + i) % totalBits;
      stream[bit >> 3]! |= ((symbol >> i) & 1) << (bit & 7);
    }
  }
}

/** The state after sample t: the nine bits at bit k·t; the byte after the last one is the first. */
export function stateAt(stream: Uint8Array, rate: number, t: number): number {
  const bit = rate * t;
  const at = bit >> 3;
  const next = at + 1 === stream.length ? 0 : at + 1;
  return ((stream[at]! | (stream[next]! << 8)) >> (bit & 7)) & ((1 << STATE_BITS) - 1);
}
