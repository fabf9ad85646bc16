import { parseArgs } from "node:util";
import type { FormatOptions } from "@eliza-inference/codecs";
import type { Device, DeviceBuffer, DeviceName, KernelEntry } from "./device.ts";
import { VerifyError } from "./errors.ts";
import { formatOf } from "./format-of.ts";
import { kernelById } from "./kernels.ts";
import { openDevice } from "./open-device.ts";
import { Random } from "./random.ts";
import { alignColumns } from "./report-table.ts";
import { randomRows, repeated } from "./rows.ts";
import { trellisCodebooks, trellisUnits } from "./trellis-buffers.ts";
import { teamSize } from "./variants.ts";

interface Subject {
  readonly kernel: string;
  readonly format: string;
  readonly options?: FormatOptions;
}

const SUBJECTS: readonly Subject[] = [
  { kernel: "turbo4_score", format: "turbo4" },
  { kernel: "tbq3_score", format: "tbq3" },
  { kernel: "turbo3_score", format: "turbo3" },
  { kernel: "trellis_score", format: "turbo2_tcq" },
  { kernel: "trellis_score", format: "turbo3_tcq" },
  { kernel: "trellis_score", format: "turbo4_tcq" },
  { kernel: "trellis_score", format: "turbo4_mix" },
  { kernel: "polar_score", format: "q4_polar" },
  { kernel: "polar_preht_score", format: "q4_polar" },
  { kernel: "qjl_score", format: "qjl1_256" },
];
const HEAD_DIM = 128;
const ROWS = 128;
const MEGABYTE = 1e6;
/** Device time that a measurement should take, so that small sizes are repeated more often. */
const MILLISECONDS = 40;
const MEASUREMENTS = 5;

export interface KernelSpeed {
  readonly kernel: string;
  readonly format: string;
  /** Query heads scored against each row. */
  readonly heads: number;
  readonly megabytes: number;
  /** 1e9 bytes of compressed rows a second. */
  readonly gigabytesPerSecond: number;
  /** The same over what a copy of as many bytes moves, read and written, in the same run. */
  readonly shareOfCopy: number;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!;
}

/** Milliseconds of one run of `work(count)`: the median of several measurements, warmed up. */
async function timeOf(work: (count: number) => Promise<number>): Promise<number> {
  await work(1);
  const once = await work(1);
  const count = Math.max(1, Math.min(1000, Math.round(MILLISECONDS / Math.max(once, 1e-3))));
  const times: number[] = [];
  for (let i = 0; i < MEASUREMENTS; i++) times.push((await work(count)) / count);
  return median(times);
}

/** 1e9 bytes moved a second, read and written, by copies of `bytes`. */
async function copyRate(device: Device, bytes: number): Promise<number> {
  using from = device.buffer(repeated(new Random(1).bytes(1 << 20), bytes));
  using to = device.buffer(bytes);
  return (2 * bytes) / ((await timeOf((count) => device.copyTime!(from, to, count))) * 1e6);
}

async function scoreRate(device: Device, entry: KernelEntry, subject: Subject, heads: number, bytes: number) {
  const kv = formatOf(subject.format, HEAD_DIM, subject.options);
  const nKv = Math.floor(bytes / kv.rowBytes);
  const pattern = randomRows(kv, 4096, new Random(7), "normal");
  const queries = new Random(8).floats(heads * kv.rotatedDim);
  const buffers: DeviceBuffer[] = [
    device.buffer(repeated(pattern, nKv * kv.rowBytes)),
    device.buffer(queries),
    device.buffer(4 * heads * nKv),
  ];
  if (entry.buffers.includes("codebooks")) {
    buffers.push(device.buffer(trellisCodebooks()), device.buffer(trellisUnits(kv)));
  }
  const constants = { rows: ROWS, heads, threads: teamSize(ROWS) * ROWS };
  using kernel = await device.load(entry, constants, [{ codec: kv, options: subject.options ?? {} }]);
  try {
    const params = Uint32Array.of(heads, 1, nKv, HEAD_DIM, kv.rowBytes, kv.rowBytes, 0);
    const groups = [Math.ceil(nKv / ROWS), 1, 1] as const;
    const time = await timeOf((count) => kernel.dispatch(groups, buffers, params, count));
    return (nKv * kv.rowBytes) / (time * 1e6);
  } finally {
    for (const buffer of buffers) buffer[Symbol.dispose]();
  }
}

/**
 * How fast each score kernel reads compressed rows of 128 values, against copies of as many bytes in the same run.
 * Sizes that fit the device's cache measure the cache, for both.
 */
export async function measureKernels(
  device: Device,
  megabytes: readonly number[],
  headCounts: readonly number[],
): Promise<KernelSpeed[]> {
  const speeds: KernelSpeed[] = [];
  for (const size of megabytes) {
    const bytes = size * MEGABYTE;
    const copy = await copyRate(device, bytes);
    for (const heads of headCounts) {
      for (const subject of SUBJECTS) {
        const entry = kernelById(subject.kernel)!;
        const rate = await scoreRate(device, entry, subject, heads, bytes);
        const { kernel, format } = subject;
        speeds.push({
          ...{ kernel, format, heads, megabytes: size },
          gigabytesPerSecond: rate,
          shareOfCopy: rate / copy,
        });
      }
    }
  }
  return speeds;
}

/** `npm run bench -- kernels [--device cuda] [--megabytes 1,32,512] [--heads 1,8] [--json]`. */
export async function run(args: readonly string[]): Promise<void> {
  try {
    await runBench(args);
  } catch (error) {
    if (!(error instanceof VerifyError)) throw error;
    console.error(`${error.message}\n${error.hint}`);
    process.exitCode = 1;
  }
}

async function runBench(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      device: { type: "string", default: "cuda" },
      megabytes: { type: "string", default: "1,32,512" },
      heads: { type: "string", default: "1,8" },
      json: { type: "boolean", default: false },
    },
  });
  const name = values.device as DeviceName;
  if (name !== "cuda" && name !== "vulkan") {
    throw new VerifyError(
      "ARGUMENT_INVALID",
      `${name} has no copy to compare with`,
      "use --device cuda or vulkan",
    );
  }
  using device = openDevice(name, { label: "" });
  const list = (text: string): number[] => text.split(",").map(Number);
  const speeds = await measureKernels(device, list(values.megabytes), list(values.heads));
  const { model, driver } = device.description;
  if (values.json) {
    console.log(JSON.stringify({ device: model, driver, speeds }, null, 2));
    return;
  }
  console.log(`${model}, ${driver}; compressed rows of ${HEAD_DIM} values, GB/s (share of a copy's traffic)`);
  console.log(
    alignColumns([
      ["kernel", "format", "heads", "MB", "GB/s", "of copy"],
      ...speeds.map((speed) => [
        speed.kernel,
        speed.format,
        String(speed.heads),
        String(speed.megabytes),
        speed.gigabytesPerSecond.toFixed(1),
        `${(100 * speed.shareOfCopy).toFixed(0)} %`,
      ]),
    ]),
  );
}
