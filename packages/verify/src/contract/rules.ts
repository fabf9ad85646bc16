import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Backend } from "../device.ts";
import { KERNELS } from "../kernels.ts";
import { inlineSource, ROOT, sha256 } from "../repository.ts";
import { type Schema, schemaFaults } from "./check-schema.ts";
import {
  type BackendClaim,
  type Contract,
  type KernelClaim,
  STATUSES,
  type Status,
} from "./contract-file.ts";
import { type EvidenceFile, isDisguised, staleness } from "./evidence-files.ts";
import { TARGETS } from "./targets.ts";

/** What kind of evidence each status rests on. */
const STATUS_OF_KIND: Readonly<Record<string, Status>> = {
  compiled: "compiles",
  emulated: "emulated",
  software: "software",
  hardware: "hardware",
  graph: "runtime-ready",
};

/** The status that a kernel's evidence on a backend earns, whatever the contract says. */
export function earnedStatus(kernel: string, backend: Backend, files: readonly EvidenceFile[]): Status {
  let earned = 0;
  for (const file of files) {
    const { evidence } = file;
    const entry = evidence.kernels[kernel];
    if (evidence.backend !== backend || !entry || isDisguised(file)) continue;
    if (entry.failed > 0 || entry.maxDifference === null) continue;
    if (staleness(evidence, kernel, entry) !== undefined) continue;
    earned = Math.max(earned, STATUSES.indexOf(STATUS_OF_KIND[evidence.kind]!));
  }
  return STATUSES[earned]!;
}

function sourceFaults(kernel: KernelClaim, backend: string, claim: BackendClaim): string[] {
  const path = join(ROOT, claim.source);
  if (!existsSync(path) || statSync(path).size === 0) {
    return [`SOURCE_MISSING ${kernel.id} on ${backend}: ${claim.source} is not there`];
  }
  if (!inlineSource(claim.source).includes(claim.symbol)) {
    return [`SYMBOL_MISSING ${kernel.id} on ${backend}: ${claim.source} does not name ${claim.symbol}`];
  }
  return [];
}

function fixtureFaults(kernel: KernelClaim): string[] {
  return Object.entries(kernel.fixtures).flatMap(([file, hash]) => {
    const path = join(ROOT, file);
    if (!existsSync(path)) return [`FIXTURE_MISSING ${kernel.id}: ${file}`];
    const content = readFileSync(path);
    if (content.length === 0) return [`FIXTURE_EMPTY ${kernel.id}: ${file}`];
    const found = sha256(content);
    return found === hash ? [] : [`FIXTURE_CHANGED ${kernel.id}: ${file} has sha256 ${found}`];
  });
}

function statusFaults(contract: Contract, files: readonly EvidenceFile[]): string[] {
  return contract.kernels.flatMap((kernel) =>
    Object.entries(kernel.backends).flatMap(([backend, claim]) => {
      const earned = earnedStatus(kernel.id, backend as Backend, files);
      if (earned === claim.status) return [];
      const over = STATUSES.indexOf(claim.status) > STATUSES.indexOf(earned);
      return over
        ? [
            `STATUS_WITHOUT_EVIDENCE ${kernel.id} on ${backend}: «${claim.status}» stands there, «${earned}» is shown`,
          ]
        : [`STATUS_BEHIND ${kernel.id} on ${backend}: «${claim.status}» stands there, «${earned}» is shown`];
    }),
  );
}

function evidenceFaults(files: readonly EvidenceFile[]): string[] {
  return files.flatMap((file) => {
    const { path, evidence } = file;
    const faults: string[] = [];
    if (isDisguised(file)) {
      faults.push(`SOFTWARE_AS_HARDWARE ${path}: ${evidence.device}, ${evidence.driver} runs on the CPU`);
    }
    for (const [kernel, entry] of Object.entries(evidence.kernels)) {
      const reason = staleness(evidence, kernel, entry);
      if (reason) faults.push(`EVIDENCE_STALE ${path}: ${kernel}: ${reason}`);
      if (entry.failed > 0 || entry.maxDifference === null) {
        faults.push(`EVIDENCE_FAILED ${path}: ${kernel}: ${entry.failed} of ${entry.cases} cases failed`);
      }
    }
    return faults;
  });
}

function namesFaults(contract: Contract): string[] {
  const faults: string[] = [];
  const ids = contract.kernels.map(({ id }) => id);
  for (const { id } of KERNELS) {
    if (!ids.includes(id)) faults.push(`KERNEL_WITHOUT_ROW ${id}`);
  }
  for (const id of ids) {
    if (!KERNELS.some((kernel) => kernel.id === id)) faults.push(`KERNEL_UNKNOWN ${id}`);
    if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`KERNEL_TWICE ${id}`);
  }
  const capabilities = new Set(contract.kernels.map(({ capability }) => capability));
  for (const key of contract.capabilities) {
    if (!capabilities.has(key)) faults.push(`CAPABILITY_WITHOUT_KERNEL ${key}`);
  }
  for (const key of capabilities) {
    if (!contract.capabilities.includes(key)) faults.push(`CAPABILITY_UNKNOWN ${key}`);
  }
  const rows = contract.targets.map(({ id }) => id);
  for (const { id } of TARGETS) if (!rows.includes(id)) faults.push(`TARGET_WITHOUT_ROW ${id}`);
  for (const id of rows) {
    if (!TARGETS.some((target) => target.id === id)) faults.push(`TARGET_UNKNOWN ${id}`);
  }
  return faults;
}

/**
 * Everything in which the contract says more, less or other than the tree and the evidence show. One line a fault,
 * its code first. Nothing is taken on trust: every hash is computed here.
 */
export function contractFaults(contract: unknown, schema: Schema, files: readonly EvidenceFile[]): string[] {
  const form = schemaFaults(contract, schema).map((fault) => `SCHEMA ${fault}`);
  if (form.length > 0) return form;
  const checked = contract as Contract;
  return [
    ...namesFaults(checked),
    ...checked.kernels.flatMap((kernel) => [
      ...Object.entries(kernel.backends).flatMap(([backend, claim]) => sourceFaults(kernel, backend, claim)),
      ...fixtureFaults(kernel),
    ]),
    ...evidenceFaults(files),
    ...statusFaults(checked, files),
  ];
}
