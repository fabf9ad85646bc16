import { createHash } from "node:crypto";
import type { DeviceBuffer, Extent, KernelConstants, KernelEntry, RowFormat } from "./device.ts";

/** Where a case's rows come from. */
export type CaseOrigin = "golden" | "seed" | "generated";

/** One dispatch and what must come of it. */
export interface KernelCase {
  readonly constants: KernelConstants;
  readonly groups: Extent;
  readonly params: Uint32Array;
  /** Parameters of a second dispatch, of as many groups, in languages where groups cannot wait for one another. */
  readonly second?: Uint32Array;
  /** One a buffer of the kernel, in order; the output's place holds undefined. */
  readonly inputs: readonly (ArrayBufferView | undefined)[];
  readonly expected: Float64Array;
  /** What the output is, where it is not f32. */
  readonly output?: "f16" | "u8";
  /** What each difference is measured against: Σ|q_i k_i| of a score. Where it is 0 the output must be 0. */
  readonly magnitude: Float64Array;
  /** Largest difference allowed: relative to `magnitude`, or absolute. */
  readonly tolerance: { readonly relative: number } | { readonly absolute: number };
}

/** A case by name, made when it is needed. */
export interface PlannedCase {
  readonly kernel: KernelEntry;
  /** The format of the rows in each buffer that holds such. */
  readonly formats: readonly RowFormat[];
  readonly name: string;
  readonly origin: CaseOrigin;
  /** Left out of a short run. */
  readonly long: boolean;
  /** Fixture files that it reads, from ROOT. */
  readonly files: readonly string[];
  /** @param halfQueries round prepared queries to fp16 first */
  make(halfQueries?: boolean): KernelCase;
}

export interface CaseResult {
  readonly name: string;
  /** What came, without the guard; undefined where nothing did. */
  readonly output: Float32Array | undefined;
  /** Largest difference over the case's tolerance unit; Infinity where a NaN or a wrong zero came. */
  readonly difference: number;
  /** Why it failed, or undefined. */
  readonly failure: string | undefined;
}

/**
 * Scores are sums of 64 to 1024 f32 products in teams, at most 80 roundings in sequence. That bounds the difference
 * from float64 by 5e-6 of Σ|q_i k_i|; rounding errors cancel, and what is seen stays under 2e-7.
 */
export const SCORE_TOLERANCE = 1e-6;
/** Decoded values and prepared queries: some twenty float32 roundings, of the largest value of the row. */
export const ROW_TOLERANCE = 1e-6;
/** elizaOS' own fixtures, at elizaOS' own tolerance. */
export const SEED_TOLERANCE = 1e-3;

const GUARD = 12345.678;
const GUARD_LENGTH = 64;

/** An output buffer's first content: NaN where the kernel must write, a guard after it. */
export function poisonedOutput(length: number): Float32Array {
  const content = new Float32Array(length + GUARD_LENGTH).fill(GUARD);
  content.fill(Number.NaN, 0, length);
  return content;
}

export function readOutput(buffer: DeviceBuffer): Float32Array {
  return new Float32Array(buffer.read().buffer);
}

/** Digests of every value that a kernel gave, the long cases' apart, so that a short run can be compared. */
export class OutputDigest {
  readonly #hashes = { short: createHash("sha256"), long: createHash("sha256") };

  /** Adds a case's outputs; one NaN is as good as another. */
  add(name: string, long: boolean, values: Float32Array): void {
    const canonical = values.map((value) => (Number.isNaN(value) ? Number.NaN : value));
    this.#hashes[long ? "long" : "short"]
      .update(`${name}\n`)
      .update(new Uint8Array(canonical.buffer, canonical.byteOffset, canonical.byteLength));
  }

  digest(): { short: string; long: string } {
    return { short: this.#hashes.short.digest("hex"), long: this.#hashes.long.digest("hex") };
  }
}

/** Compares an output with what was expected. */
export function judge(name: string, test: KernelCase, output: Float32Array): CaseResult {
  const { expected, magnitude, tolerance } = test;
  const values = output.subarray(0, expected.length);
  const absolute = "absolute" in tolerance;
  const limit = absolute ? tolerance.absolute : tolerance.relative;
  let difference = 0;
  let worst = -1;
  for (let i = 0; i < expected.length; i++) {
    const want = expected[i]!;
    const got = output[i]!;
    let distance = 0;
    if (Number.isNaN(want)) distance = Number.isNaN(got) ? 0 : Number.POSITIVE_INFINITY;
    else if (got !== want) {
      const scale = absolute ? 1 : magnitude[i]!;
      distance = Math.abs(got - want) / scale;
      if (Number.isNaN(distance)) distance = Number.POSITIVE_INFINITY;
    }
    if (distance > difference) {
      difference = distance;
      worst = i;
    }
  }
  if (difference > limit) {
    const found = `output ${worst} of ${expected.length} is ${output[worst]}, expected ${expected[worst]}`;
    return {
      name,
      output: values,
      difference,
      failure: `${found}, difference ${difference.toExponential(2)} over ${limit}`,
    };
  }
  for (let i = expected.length; i < output.length; i++) {
    if (output[i] !== Math.fround(GUARD)) {
      const failure = `wrote ${output[i]} at ${i}, past the ${expected.length} outputs`;
      return { name, output: values, difference: Number.POSITIVE_INFINITY, failure };
    }
  }
  return { name, output: values, difference, failure: undefined };
}
