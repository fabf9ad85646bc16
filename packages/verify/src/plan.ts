import { CASE_FAMILIES } from "./case-families.ts";
import type { KernelEntry } from "./device.ts";
import type { PlannedCase } from "./kernel-case.ts";
import { KERNELS } from "./kernels.ts";

const plans = new Map<string, readonly PlannedCase[]>();

/**
 * The cases of a kernel.
 * @param short leave the long ones out
 */
export function planOf(kernel: KernelEntry, short: boolean): readonly PlannedCase[] {
  const plan = plans.get(kernel.id) ?? CASE_FAMILIES[kernel.family].cases(kernel);
  plans.set(kernel.id, plan);
  return short ? plan.filter((planned) => !planned.long) : plan;
}

/** Fixture files that a kernel's cases read, from ROOT, each once. */
export function fixturesOf(kernel: KernelEntry): string[] {
  return [...new Set(planOf(kernel, false).flatMap(({ files }) => files))].sort();
}

/** Identity hashes of every format that a kernel's cases use, each once, in order. */
export function formatHashes(kernel: KernelEntry): string[] {
  const codecs = planOf(kernel, false).flatMap(({ formats }) => formats.map(({ codec }) => codec.hash));
  return [...new Set(codecs)].sort();
}

/** The kernels asked for, by id or by the start of one. */
export function kernelsNamed(names: readonly string[] | undefined): KernelEntry[] {
  if (!names) return [...KERNELS];
  return KERNELS.filter((kernel) =>
    names.some((name) => kernel.id === name || kernel.id.startsWith(`${name}_`)),
  );
}
