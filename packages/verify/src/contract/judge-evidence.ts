import type { DeviceName, FamilyName, KernelEntry } from "../device.ts";
import { type CompiledEvidence, type Evidence, evidenceName, type KernelEvidence } from "../evidence.ts";
import { harnessHash } from "../harness-hash.ts";
import type { PlannedCase } from "../kernel-case.ts";
import { hasSource, kernelSourceHash, sourcePath } from "../kernel-sources.ts";
import { kernelById } from "../kernels.ts";
import { EVIDENCE_FOLDER } from "./contract-file.ts";
import type { EvidenceFile } from "./evidence-files.ts";
import type { PlanFacts } from "./plan-facts.ts";

/** Drivers that run on the CPU, whatever kind a file says. */
const SOFTWARE = /llvmpipe|lavapipe|swiftshader|softpipe|software|mock|emulat/i;

/** The largest difference that evidence may hold, whatever tolerance the harness had when it was made. */
const MOST_DIFFERENCE: Readonly<Record<FamilyName, number>> = {
  score: 1e-6,
  mul_mv: 1e-6,
  get_rows: 1e-6,
  encode: 0,
  decode: 1e-6,
  prepare_query: 1e-6,
  attention: 1e-2,
  fused_attention: 1e-5,
  cache_rows: 1e-6,
  set_rows: 0,
};
const MOST_SEED_DIFFERENCE = 1e-3;
/** Families whose results are sums of many products: no device gives all of them without a difference. */
const SUMS: readonly FamilyName[] = ["score", "mul_mv", "attention", "fused_attention"];

const BACKENDS_OF_KIND: Readonly<Record<Evidence["kind"], readonly Evidence["backend"][]>> = {
  compiled: ["vulkan", "cuda", "metal"],
  emulated: ["cuda", "metal"],
  software: ["vulkan"],
  hardware: ["cpu", "vulkan", "cuda", "metal"],
};

/** Whether any machine with the right tools can make this evidence again: the CPU's, software's, emulation's. */
export function canBeRecomputed({ backend, kind }: Pick<Evidence, "backend" | "kind">): boolean {
  return kind === "software" || kind === "emulated" || (kind === "hardware" && backend === "cpu");
}

/** The device that makes such evidence. */
export function deviceOf({ backend, kind }: Pick<Evidence, "backend" | "kind">): DeviceName {
  return kind === "emulated" ? (`emulated-${backend}` as DeviceName) : backend;
}

/** Why a kernel's evidence no longer speaks of this tree, or undefined. */
export function staleness(
  evidence: Evidence,
  id: string,
  entry: KernelEvidence | CompiledEvidence,
  factsOf: PlanFacts,
): string | undefined {
  const { backend } = evidence;
  const kernel = kernelById(id);
  if (!kernel) return "the harness has no such kernel";
  const path = sourcePath(backend, kernel);
  if (!hasSource(backend, kernel)) return `${path} is not there`;
  if (entry.source.path !== path) return `it names ${entry.source.path}, the source is ${path}`;
  if (entry.source.sha256 !== kernelSourceHash(backend, kernel)) return `${path} has changed`;
  if (!("plan" in entry)) return undefined;
  const facts = factsOf(kernel);
  if (entry.harness !== harnessHash(deviceOf(evidence), kernel)) return "the harness has changed";
  if (entry.fixtures !== facts.fixturesHash) return "the fixtures have changed";
  return entry.plan === facts.planHash ? undefined : "the cases have changed";
}

/** What configurations a device is verified in; undefined where they are the device's own. */
function configurationFault(
  { backend, kind, device }: Evidence,
  labels: readonly string[],
): string | undefined {
  if (new Set(labels).size !== labels.length) return `names a configuration twice: ${labels.join(", ")}`;
  const subgroups = (widths: readonly number[]): string =>
    widths.map((width) => `subgroup ${width}`).join(", ");
  const found = labels.join(", ");
  if (kind === "emulated" && found !== subgroups([32, 64]))
    return `ran at ${found}, not ${subgroups([32, 64])}`;
  if (kind === "software" && device.startsWith("llvmpipe") && found !== subgroups([4, 8, 16])) {
    return `ran at ${found}, not ${subgroups([4, 8, 16])}`;
  }
  if (backend !== "cpu")
    return labels.every((label) => /^subgroup \d+$/.test(label)) ? undefined : `ran at ${found}`;
  const known = ["scalar", "avx2", "avx512", "neon"];
  if (!labels.includes("scalar")) return "lacks the portable path";
  const unknown = labels.find((label) => !known.includes(label));
  return unknown === undefined ? undefined : `names an instruction set ${unknown}`;
}

/** In what a run is not a run of the plan, or undefined. */
function runFault(
  kernel: KernelEntry,
  plan: readonly PlannedCase[],
  { skipped }: KernelEvidence,
  differences: readonly (number | null)[],
): string | undefined {
  if (differences.length !== plan.length) return `${differences.length} cases of ${plan.length}`;
  const without = differences.filter((value) => value === null).length;
  const told = Object.values(skipped).reduce((sum, cases) => sum + cases, 0);
  if (without !== told) return `${without} cases are missing, ${told} are said to be skipped`;
  if (without === plan.length) return "no case ran";
  for (const [i, value] of differences.entries()) {
    const { name, origin } = plan[i]!;
    const most = origin === "seed" ? MOST_SEED_DIFFERENCE : MOST_DIFFERENCE[kernel.family];
    if ((value ?? 0) > most) return `«${name}» differs by ${value}, more than ${most}`;
  }
  if (SUMS.includes(kernel.family) && differences.every((value) => !value))
    return "no case shows any difference";
  return undefined;
}

function kernelFaults(
  evidence: Evidence,
  kernel: KernelEntry,
  entry: KernelEvidence,
  plan: readonly PlannedCase[],
): string[] {
  const faults: string[] = [];
  const labels = entry.runs.map(({ configuration }) => configuration);
  const configuration = configurationFault(evidence, labels);
  if (configuration) faults.push(configuration);
  if (evidence.backend !== "cpu" && Object.keys(entry.skipped).length > 0) faults.push("skips cases");
  for (const run of entry.runs) {
    const fault = runFault(kernel, plan, entry, run.differences);
    if (fault) faults.push(`${run.configuration}: ${fault}`);
  }
  return faults;
}

/**
 * What cannot be so in a file of evidence, one line a fault, and the kernels of which it no longer speaks. Stale
 * evidence is a fault where any machine can make it again; of hardware and of compilers it is no claim.
 */
export function judgeEvidence(
  { path, evidence }: EvidenceFile,
  factsOf: PlanFacts,
): {
  faults: string[];
  stale: ReadonlyMap<string, string>;
} {
  const faults: string[] = [];
  const stale = new Map<string, string>();
  const { backend, kind, device, driver, kernels } = evidence;
  const wanted = `${EVIDENCE_FOLDER}/${evidenceName(evidence)}`;
  if (path !== wanted) faults.push(`EVIDENCE_MISPLACED ${path}: what it says belongs into ${wanted}`);
  if (!BACKENDS_OF_KIND[kind].includes(backend))
    faults.push(`EVIDENCE_INVALID ${path}: ${backend} is never ${kind}`);
  if (kind === "hardware" && backend !== "cpu" && (SOFTWARE.test(device) || SOFTWARE.test(driver))) {
    faults.push(`SOFTWARE_AS_HARDWARE ${path}: ${device}, ${driver} runs on the CPU`);
  }
  if (Object.keys(kernels).length === 0) faults.push(`EVIDENCE_EMPTY ${path}`);
  const tomorrow = new Date(Date.now() + 24 * 3600 * 1000).toISOString().slice(0, 10);
  for (const [id, entry] of Object.entries(kernels)) {
    if (entry.date > tomorrow) faults.push(`EVIDENCE_INVALID ${path}: ${id}: is of ${entry.date}`);
    const reason = staleness(evidence, id, entry, factsOf);
    if (reason) {
      stale.set(id, reason);
      if (canBeRecomputed(evidence)) faults.push(`EVIDENCE_STALE ${path}: ${id}: ${reason}`);
    } else if ("plan" in entry) {
      const kernel = kernelById(id)!;
      for (const fault of kernelFaults(evidence, kernel, entry, factsOf(kernel).plan)) {
        faults.push(`EVIDENCE_INVALID ${path}: ${id}: ${fault}`);
      }
    }
  }
  return { faults, stale };
}
