import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CASE_FAMILIES } from "./case-families.ts";
import type { KernelEntry } from "./device.ts";
import type { PlannedCase } from "./kernel-case.ts";
import { KERNELS } from "./kernels.ts";
import { ROOT, sha256 } from "./repository.ts";

/**
 * The cases of a kernel.
 * @param short leave the long ones out
 */
export function planOf(kernel: KernelEntry, short: boolean): readonly PlannedCase[] {
  const plan = CASE_FAMILIES[kernel.family].cases(kernel);
  return short ? plan.filter((planned) => !planned.long) : plan;
}

/** Fixture files that a plan reads, from ROOT, each once. */
export function fixturesOf(plan: readonly PlannedCase[]): string[] {
  return [...new Set(plan.flatMap(({ files }) => files))].sort();
}

/** Hash of a plan: every case by name and place, with the identity of its formats. */
export function planHash(plan: readonly PlannedCase[]): string {
  const lines = plan.map(({ name, origin, long, formats }) =>
    [name, origin, long ? "long" : "short", ...formats.map(({ codec }) => codec.hash)].join("\t"),
  );
  return sha256(lines.join("\n"));
}

/** Hash of the fixture files that a plan reads. */
export function fixturesHash(plan: readonly PlannedCase[]): string {
  const lines = fixturesOf(plan).map((path) => `${path} ${sha256(readFileSync(join(ROOT, path)))}`);
  return sha256(lines.join("\n"));
}

/** The kernels asked for, by id or by the start of one. */
export function kernelsNamed(names: readonly string[] | undefined): KernelEntry[] {
  if (!names) return [...KERNELS];
  return KERNELS.filter((kernel) =>
    names.some((name) => kernel.id === name || kernel.id.startsWith(`${name}_`)),
  );
}
