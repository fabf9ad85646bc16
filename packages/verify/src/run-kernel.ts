import type { Device, DeviceBuffer, Kernel, KernelConstants, KernelEntry, RowFormat } from "./device.ts";
import { VerifyError } from "./errors.ts";
import { floatFromHalf } from "./half-queries.ts";
import {
  type CaseResult,
  judge,
  type KernelCase,
  OutputDigest,
  type PlannedCase,
  poisonedOutput,
  readOutput,
} from "./kernel-case.ts";

export interface KernelResult {
  readonly kernel: string;
  /** Cases that ran. */
  readonly cases: number;
  /** Of each case of the plan, in its order, the largest difference; null where the device skipped it. */
  readonly differences: readonly (number | null)[];
  /** How many cases the device skipped, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Largest relative difference of the golden and generated cases. */
  readonly maxDifference: number;
  /** Largest absolute difference of elizaOS' cases, or undefined where it has none. */
  readonly maxSeedDifference: number | undefined;
  readonly failures: readonly { readonly name: string; readonly reason: string }[];
  /** Digests of all outputs, of the cases of a short run and of the others. */
  readonly outputs: { readonly short: string; readonly long: string };
  /** Hash of the sources that what ran was made from, as it says itself; undefined where it cannot. */
  readonly sources: string | undefined;
  readonly milliseconds: number;
}

function wordsOf({ expected, output }: KernelCase): number {
  return Math.ceil(expected.length / (output === "u8" ? 4 : output === "f16" ? 2 : 1));
}

/** The values of an output as float32, and the words behind them. */
function valuesOf(test: KernelCase, words: Float32Array): Float32Array {
  if (!test.output) return words;
  const count = test.expected.length;
  const values =
    test.output === "u8"
      ? Array.from(new Uint8Array(words.buffer, words.byteOffset, count))
      : Array.from(new Uint16Array(words.buffer, words.byteOffset, count), floatFromHalf);
  return Float32Array.from([...values, ...words.subarray(wordsOf(test))]);
}

async function outputOf(device: Device, kernel: Kernel, test: KernelCase): Promise<Float32Array> {
  const buffers: DeviceBuffer[] = [];
  try {
    for (const input of test.inputs) {
      buffers.push(device.buffer(input ?? poisonedOutput(wordsOf(test))));
    }
    await kernel.dispatch(test.groups, buffers, test.params);
    if (test.second && device.description.backend !== "cuda") {
      await kernel.dispatch(test.groups, buffers, test.second);
    }
    const output = readOutput(buffers[test.inputs.indexOf(undefined)]!);
    return valuesOf(test, output);
  } finally {
    for (const buffer of buffers) buffer[Symbol.dispose]();
  }
}

/** Runs one case under every schedule of the device; they must agree to the bit. */
export async function runCase(
  device: Device,
  kernel: Kernel,
  name: string,
  test: KernelCase,
): Promise<CaseResult> {
  let first: Float32Array | undefined;
  let result: CaseResult = { name, output: undefined, difference: 0, failure: "not run" };
  for (let schedule = 0; schedule < device.schedules; schedule++) {
    device.setSchedule(schedule);
    const output = await outputOf(device, kernel, test);
    if (first === undefined) {
      first = output;
      result = judge(name, test, output);
    } else {
      const bits = new Uint32Array(output.buffer);
      const others = new Uint32Array(first.buffer);
      const at = bits.findIndex((word, i) => word !== others[i]);
      if (at >= 0 && !result.failure) {
        const failure = `output ${at} is ${first[at]} in one schedule and ${output[at]} in another: a barrier is missing`;
        result = { ...result, difference: Number.POSITIVE_INFINITY, failure };
      }
    }
    if (result.failure) break;
  }
  device.setSchedule(0);
  return result;
}

/** A kernel's built forms, one for each choice of constants. */
class LoadedKernels implements Disposable {
  readonly #device: Device;
  readonly #entry: KernelEntry;
  readonly #kernels = new Map<string, Kernel>();
  constructor(device: Device, entry: KernelEntry) {
    this.#device = device;
    this.#entry = entry;
  }
  async get(constants: KernelConstants, formats: readonly RowFormat[]): Promise<Kernel> {
    const shape = `${constants.threads}/${constants.rows}/${constants.heads}`;
    const key =
      this.#device.lacks || this.#entry.constants === "formats"
        ? [shape, ...formats.map(({ codec }) => codec.hash)].join(" ")
        : shape;
    const kernel = this.#kernels.get(key) ?? (await this.#device.load(this.#entry, constants, formats));
    this.#kernels.set(key, kernel);
    return kernel;
  }
  [Symbol.dispose](): void {
    for (const kernel of this.#kernels.values()) kernel[Symbol.dispose]();
  }
}

/**
 * Runs all of a kernel's cases. A case that fails or faults is reported, and the next one runs.
 * @throws VerifyError KERNEL_BUILD, TOOL_MISSING
 */
export async function runKernel(
  device: Device,
  entry: KernelEntry,
  plan: readonly PlannedCase[],
): Promise<KernelResult> {
  using kernels = new LoadedKernels(device, entry);
  const started = performance.now();
  const failures: { name: string; reason: string }[] = [];
  const differences: (number | null)[] = [];
  const skipped: Record<string, number> = {};
  const digest = new OutputDigest();
  let maxDifference = 0;
  let maxSeedDifference: number | undefined;
  for (const planned of plan) {
    const { name, origin, formats, long } = planned;
    const reason = device.lacks?.(entry, formats);
    if (reason !== undefined) {
      skipped[reason] = (skipped[reason] ?? 0) + 1;
      differences.push(null);
      continue;
    }
    let result: CaseResult;
    try {
      const test = planned.make(device.halfQueries?.(formats[0]!) ?? false);
      result = await runCase(device, await kernels.get(test.constants, formats), name, test);
    } catch (error) {
      if (!(error instanceof VerifyError) || error.code !== "KERNEL_FAULT") throw error;
      result = {
        ...{ name, output: undefined, difference: Number.POSITIVE_INFINITY },
        failure: error.message,
      };
    }
    differences.push(result.difference);
    if (result.output) digest.add(name, long, result.output);
    if (origin === "seed") maxSeedDifference = Math.max(maxSeedDifference ?? 0, result.difference);
    else maxDifference = Math.max(maxDifference, result.difference);
    if (result.failure) failures.push({ name, reason: result.failure });
  }
  return {
    kernel: entry.id,
    cases: differences.filter((difference) => difference !== null).length,
    ...{ differences, skipped, maxDifference, maxSeedDifference, failures },
    outputs: digest.digest(),
    sources: device.sources(entry),
    milliseconds: performance.now() - started,
  };
}
