import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { TARGETS } from "@eliza-inference/build/targets";
import type { Backend, KernelEntry } from "../device.ts";
import { BACKENDS, hasSource, sourcePath } from "../kernel-sources.ts";
import { KERNELS } from "../kernels.ts";
import { fixturesOf } from "../plan.ts";
import { ROOT, sha256 } from "../repository.ts";
import {
  type BackendClaim,
  type Contract,
  type KernelClaim,
  STATUSES,
  type Status,
} from "./contract-file.ts";
import type { EvidenceFile } from "./evidence-files.ts";
import type { PlanFacts } from "./plan-facts.ts";

/** A file of evidence with what became of it: the kernels of which it no longer speaks. */
export interface JudgedFile extends EvidenceFile {
  readonly stale: ReadonlyMap<string, string>;
}

const STATUS_OF_KIND: Readonly<Record<EvidenceFile["evidence"]["kind"], Status>> = {
  compiled: "compiles",
  emulated: "emulated",
  software: "software",
  hardware: "hardware",
};

function backendClaim(kernel: KernelEntry, backend: Backend, files: readonly JudgedFile[]): BackendClaim {
  const current = files.filter(
    ({ evidence, stale }) =>
      evidence.backend === backend && evidence.kernels[kernel.id] && !stale.has(kernel.id),
  );
  const earned = current.map(({ evidence }) => STATUSES.indexOf(STATUS_OF_KIND[evidence.kind]));
  return {
    source: sourcePath(backend, kernel),
    status: STATUSES[Math.max(0, ...earned)]!,
    evidence: current.map(({ path }) => path),
  };
}

function kernelClaim(kernel: KernelEntry, files: readonly JudgedFile[], factsOf: PlanFacts): KernelClaim {
  const { plan } = factsOf(kernel);
  const backends = BACKENDS.filter((backend) => hasSource(backend, kernel));
  return {
    id: kernel.id,
    family: kernel.family,
    formats: kernel.formats.map(({ name }) => name),
    capability: kernel.capability,
    cases: plan.length,
    fixtures: fixturesOf(plan),
    backends: Object.fromEntries(backends.map((backend) => [backend, backendClaim(kernel, backend, files)])),
  };
}

function fixtureHashes(): Record<string, string> {
  const names = readdirSync(join(ROOT, "fixtures"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(ROOT.length + 1)
        .replaceAll("\\", "/"),
    );
  return Object.fromEntries(names.sort().map((path) => [path, sha256(readFileSync(join(ROOT, path)))]));
}

/** The contract that this tree and its evidence support. Nothing in it comes from the contract that is there. */
export function makeContract(files: readonly JudgedFile[], factsOf: PlanFacts): Contract {
  const kernels = KERNELS.map((kernel) => kernelClaim(kernel, files, factsOf));
  return {
    schema: 2,
    capabilities: [...new Set(kernels.map(({ capability }) => capability))],
    kernels,
    targets: TARGETS.map(({ id, variant, needs }) => ({ id, backend: variant, needs })),
    evidence: Object.fromEntries(
      files.map(({ path, evidence, sha256: hash, stale }) => {
        const dates = Object.values(evidence.kernels).map(({ date }) => date);
        const { kind, device } = evidence;
        return [
          path,
          { kind, device, date: dates.sort().at(-1) ?? "", sha256: hash, stale: [...stale.keys()] },
        ];
      }),
    ),
    fixtures: fixtureHashes(),
  };
}
