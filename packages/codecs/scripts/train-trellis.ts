import { lcgGaussians, take } from "../src/gaussian-stream.ts";
import { normaliseTile } from "../src/normalised-tile.ts";
import { trellisSamples } from "../src/tail-biting.ts";
import { STATES, type TrellisCodebook, type TrellisRate, trellisCodebook } from "../src/trellis-codebook.ts";
import { viterbi } from "../src/viterbi.ts";
import { normalQuantile } from "./normal-quantile.ts";

const TILE = 128;
/** Odd multiplier that scatters quantiles over the states, so that the branches of a state lie far apart. */
const SCATTER = 445;
const FEWEST_SAMPLES = 4;

/** Gaussian tiles of 128 at unit mean square. */
export function gaussianTiles(seed: bigint, count: number): Float32Array[] {
  const gaussian = lcgGaussians(seed);
  return Array.from({ length: count }, () => {
    const unit = new Float32Array(TILE);
    normaliseTile(take(gaussian, TILE), unit);
    return unit;
  });
}

/** Rounds float levels to −127…127, the largest magnitude at 127. */
function frozen(rate: TrellisRate, levels: Float64Array): TrellisCodebook {
  const largest = levels.reduce((most, level) => Math.max(most, Math.abs(level)), 0);
  const step = Math.fround(largest / 127);
  return trellisCodebook(
    rate,
    Int8Array.from(levels, (level) => Math.round(level / step)),
    step,
  );
}

/**
 * Trains a codebook: start at normal quantiles scattered over the states, then alternate Viterbi (free ends)
 * and the mean of the samples that each state got, rounding to int8 every round, so that what is optimised is
 * what is stored. A generalised Lloyd algorithm; it ends early when a round changes nothing.
 */
export function trainTrellis(
  rate: TrellisRate,
  tiles: readonly Float32Array[],
  rounds: number,
): TrellisCodebook {
  const levels = Float64Array.from({ length: STATES }, (_, s) =>
    normalQuantile((((s * SCATTER) % STATES) + 0.5) / STATES),
  );
  const samples = new Int32Array(TILE);
  let codebook = frozen(rate, levels);
  for (let round = 0; round < rounds; round++) {
    const sums = new Float64Array(STATES);
    const counts = new Uint32Array(STATES);
    for (const unit of tiles) {
      trellisSamples(codebook, unit, samples);
      const { states } = viterbi(codebook, samples, -1);
      for (let i = 0; i < TILE; i++) {
        sums[states[i]!]! += unit[i]!;
        counts[states[i]!]! += 1;
      }
    }
    for (let s = 0; s < STATES; s++) if (counts[s]! >= FEWEST_SAMPLES) levels[s] = sums[s]! / counts[s]!;
    const next = frozen(rate, levels);
    if (next.step === codebook.step && next.values.every((value, s) => value === codebook.values[s])) break;
    codebook = next;
  }
  return codebook;
}
