import type { KernelEvidence } from "../evidence.ts";
import { backendOf } from "../kernel-sources.ts";
import type { DeviceReport } from "../verify.ts";
import { readEvidenceFiles } from "./evidence-files.ts";
import { canBeRecomputed, staleness } from "./judge-evidence.ts";
import { planFacts } from "./plan-facts.ts";

export interface Recomputed {
  /** Runs whose outputs were compared, to the bit. */
  readonly compared: number;
  readonly faults: readonly string[];
  /** Runs that no committed evidence speaks of, with the reason. */
  readonly uncompared: readonly string[];
}

/**
 * Compares what a device gave just now with the committed evidence of that device: the digests of all outputs, and for
 * a whole run the differences. Software drivers are compared with evidence of the same driver alone, since another
 * version may round otherwise.
 */
export function compareWithEvidence(
  { device, description, kernels }: DeviceReport,
  short: boolean,
): Recomputed {
  const faults: string[] = [];
  const uncompared: string[] = [];
  let compared = 0;
  const factsOf = planFacts();
  if (!description) return { compared, faults, uncompared: [`${device} is not here`] };
  const files = readEvidenceFiles().files.filter(
    ({ evidence }) =>
      evidence.backend === backendOf(device) &&
      evidence.kind === description.kind &&
      canBeRecomputed(evidence),
  );
  for (const { kernel, runs } of kernels) {
    for (const { configuration, result } of runs) {
      const place = `${device}, ${configuration}: ${kernel}`;
      const file = files.find(
        ({ evidence }) =>
          (evidence.backend === "cpu" || evidence.driver === description.driver) &&
          runOf(evidence.kernels[kernel], configuration) !== undefined,
      );
      const entry = file?.evidence.kernels[kernel];
      const run = runOf(entry, configuration);
      if (!file || !entry || !run || staleness(file.evidence, kernel, entry, factsOf)) {
        uncompared.push(`${place}: no current evidence of ${description.driver}`);
        continue;
      }
      compared++;
      const parts = short ? (["short"] as const) : (["short", "long"] as const);
      for (const part of parts) {
        if (run.outputs[part] === result.outputs[part]) continue;
        faults.push(`EVIDENCE_UNTRUE ${file.path}: ${place}: the ${part} cases give other outputs here`);
      }
    }
  }
  return { compared, faults, uncompared };
}

function runOf(entry: unknown, configuration: string) {
  return (entry as KernelEvidence | undefined)?.runs?.find((run) => run.configuration === configuration);
}
