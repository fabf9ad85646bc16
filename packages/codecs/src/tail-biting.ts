import type { TrellisCodebook } from "./trellis-codebook.ts";
import { viterbi } from "./viterbi.ts";

/** float32 round to nearest even of |x| below 2^22: 1.5·2^23 leaves no room for a fraction. */
function roundEven(x: number): number {
  return Math.fround(Math.fround(x + 12582912) - 12582912);
}

/** Samples of unit-mean-square values: X = round(u · 4/step), ties to even. */
export function trellisSamples(codebook: TrellisCodebook, unit: Float32Array, samples: Int32Array): void {
  for (let i = 0; i < unit.length; i++) {
    samples[i] = roundEven(Math.fround(unit[i]! * codebook.sampleScale));
  }
}

/**
 * States of a tile whose state before the first sample is the one after the last. A free run over the samples
 * around the wrap, `context` of them on each side and cyclic, settles the state there; the tile is then coded
 * by one run anchored to it. Costs half of what trying both ends of a free run costs, for the same error.
 */
export function tailBitingStates(codebook: TrellisCodebook, samples: Int32Array, states: Uint16Array): void {
  const { context, rate } = codebook;
  const around = new Int32Array(2 * context);
  // The context is at most twice the tile, so that one addition makes the index positive.
  for (let i = 0; i < around.length; i++) {
    around[i] = samples[(i - context + 2 * samples.length) % samples.length]!;
  }
  const anchor = viterbi(codebook, around, -1).states[context - 1]! >> rate;
  states.set(viterbi(codebook, samples, anchor).states);
}
