import type { FormatOptions } from "@eliza-inference/codecs";
import type { KernelEntry } from "./device.ts";
import { goldenRows } from "./golden.ts";
import type { PlannedCase } from "./kernel-case.ts";
import { KERNELS } from "./kernels.ts";
import { matrixCases } from "./matrix-cases.ts";
import { scoreCases } from "./score-cases.ts";
import { seedCases, seedFiles } from "./seed-cases.ts";

interface Formats {
  readonly format: string;
  readonly options?: readonly FormatOptions[];
}

const POLAR: readonly Formats[] = [
  { format: "q4_polar", options: [{ residual: false }, { residual: true }] },
];
const QJL: readonly Formats[] = [{ format: "qjl1_256", options: [{}, { projection: "iid" }] }];

/** The formats that each kernel reads. */
const FORMATS: Readonly<Record<string, readonly Formats[]>> = {
  turbo4_score: [{ format: "turbo4" }],
  tbq3_score: [{ format: "tbq3" }],
  turbo3_score: [{ format: "turbo3" }],
  trellis_score: [
    { format: "turbo3_tcq" },
    { format: "turbo4_tcq" },
    { format: "turbo2_tcq" },
    { format: "turbo4_mix" },
    { format: "turbo3_mix" },
    { format: "turbo2_mix" },
    {
      format: "trellis",
      options: [
        { rate: 1, tile: 32 },
        { rate: 2, tile: 64 },
        { rate: 3, tile: 128 },
        { rate: 4, tile: 32 },
        { rate: 5, tile: 64 },
        { rate: 6, tile: 128 },
      ],
    },
  ],
  polar_score: POLAR,
  polar_preht_score: POLAR,
  qjl_score: QJL,
  qjl_mul_mv: QJL,
  qjl_get_rows: QJL,
  polar_mul_mv: POLAR,
  polar_get_rows: POLAR,
};

/** Names of the formats that a kernel reads, each once. */
export function formatsOf(kernel: KernelEntry): string[] {
  return FORMATS[kernel.id]!.map((entry) => entry.format);
}

/** Fixture files that a kernel's cases read, from ROOT, each once. */
export function fixturesOf(kernel: KernelEntry): string[] {
  const golden = goldenRows(formatsOf(kernel)).flatMap((rows) => rows.files);
  return [...new Set([...golden, ...seedFiles(kernel)])].sort();
}

const hashes = new Map<string, string[]>();

/** Identity hashes of every format that a kernel's cases use, each once, in order. */
export function formatHashes(kernel: KernelEntry): string[] {
  const known = hashes.get(kernel.id);
  if (known) return known;
  const made = [...new Set(planOf(kernel, false).map((planned) => planned.format.hash))].sort();
  hashes.set(kernel.id, made);
  return made;
}

/**
 * The cases of a kernel.
 * @param short leave the long ones out
 */
export function planOf(kernel: KernelEntry, short: boolean): PlannedCase[] {
  const formats = FORMATS[kernel.id]!;
  const plan = kernel.buffers.includes("scores")
    ? scoreCases({
        entry: kernel,
        rawQuery: kernel.id === "polar_score",
        formats: formats.flatMap(({ format, options = [{}] }) =>
          options.map((choice) => ({ name: format, options: choice })),
        ),
      })
    : formats.flatMap(({ format, options = [{}] }) => matrixCases({ entry: kernel, format, options }));
  plan.unshift(...seedCases(kernel));
  return short ? plan.filter((planned) => !planned.long) : plan;
}

/** The kernels asked for, by id or by the start of one. */
export function kernelsNamed(names: readonly string[] | undefined): KernelEntry[] {
  if (!names) return [...KERNELS];
  return KERNELS.filter((kernel) =>
    names.some((name) => kernel.id === name || kernel.id.startsWith(`${name}_`)),
  );
}
