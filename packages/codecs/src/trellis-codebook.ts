/** Bits of a trellis state, and states: the state is the last nine bits of the symbol stream. */
export const STATE_BITS = 9;
export const STATES = 1 << STATE_BITS;

/** Sample units of the encoder's metric to one codebook step. */
export const SAMPLES_PER_STEP = 4;

/** Symbol sizes the trellis family offers, bits. */
export type TrellisRate = 1 | 2 | 3 | 4 | 5 | 6;

/** The reconstruction values of one rate: values[s] · step for the state s after a symbol was taken. */
export interface TrellisCodebook {
  readonly rate: TrellisRate;
  /** 512 entries, −127 to 127. */
  readonly values: Int8Array;
  /** Value of one unit, float32; tiles have unit mean square before coding. */
  readonly step: number;
  /** float32 of 4 / step: takes a sample to the metric's units. */
  readonly sampleScale: number;
  /** Samples on each side of the wrap that the tail-biting encoder looks at: 64 48 48 32 16 16 by rate. */
  readonly context: number;
  /** 2 · values²: the part of the metric that does not depend on the sample. */
  readonly bias: Int32Array;
}

/** Longer contexts lower the error by less than 0.3 %. */
const CONTEXTS: Readonly<Record<TrellisRate, number>> = { 1: 64, 2: 48, 3: 48, 4: 32, 5: 16, 6: 16 };

/** Completes a codebook from what is stored of it. `step` is at least 0.015, which keeps packed metrics in 32 bits. */
export function trellisCodebook(rate: TrellisRate, values: Int8Array, step: number): TrellisCodebook {
  const stepF32 = Math.fround(step);
  return {
    rate,
    values,
    step: stepF32,
    sampleScale: Math.fround(SAMPLES_PER_STEP / stepF32),
    context: CONTEXTS[rate],
    bias: Int32Array.from(values, (value) => 2 * value * value),
  };
}
