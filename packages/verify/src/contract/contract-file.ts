import type { Backend } from "../device.ts";
import type { Evidence } from "../evidence.ts";

/**
 * How far a kernel has come on a backend, each including those before it. `authored`: the source is there.
 * `compiles`: the backend's compiler took it. `emulated`: our compilation for the CPU passed. `software`: a driver
 * on the CPU passed. `hardware`: a device passed.
 */
export const STATUSES = ["authored", "compiles", "emulated", "software", "hardware"] as const;
export type Status = (typeof STATUSES)[number];

export interface BackendClaim {
  readonly source: string;
  readonly status: Status;
  /** Files of current evidence, from ROOT. */
  readonly evidence: readonly string[];
}

export interface KernelClaim {
  readonly id: string;
  readonly family: string;
  readonly formats: readonly string[];
  /** What a build may report as available once it has this kernel. */
  readonly capability: string;
  readonly cases: number;
  /** Files under fixtures/ that its cases read; their hashes are in the contract's `fixtures`. */
  readonly fixtures: readonly string[];
  readonly backends: Readonly<Partial<Record<Backend, BackendClaim>>>;
}

export interface TargetClaim {
  readonly id: string;
  readonly backend: Backend;
  /** What is still to be shown before the target may be called supported. */
  readonly needs: string;
}

export interface EvidenceClaim {
  readonly kind: Evidence["kind"];
  readonly device: string;
  /** Day of the newest run in it. */
  readonly date: string;
  /** Hash of the file. */
  readonly sha256: string;
  /** Kernels of which it no longer speaks: to be made anew. */
  readonly stale: readonly string[];
}

/** What is claimed: a function of the tree and its evidence, and of nothing else. */
export interface Contract {
  readonly schema: 2;
  readonly capabilities: readonly string[];
  readonly kernels: readonly KernelClaim[];
  readonly targets: readonly TargetClaim[];
  /** By path. */
  readonly evidence: Readonly<Record<string, EvidenceClaim>>;
  /** sha256 of every file under fixtures/, by path. */
  readonly fixtures: Readonly<Record<string, string>>;
}

export const CONTRACT_PATH = "contract/kernel-contract.json";
export const EVIDENCE_FOLDER = "contract/evidence";

const LINE_WIDTH = 110;
const LIST_OF_NAMES = /^( *(?:"[^"\n]*": )?)\[\s+("[^"\n]*"(?:,\s+"[^"\n]*")*)\s+\](,?)$/gm;

/** The contract as the repository's formatter has it: lists of names on one line where they fit. */
export function contractText(contract: Contract): string {
  const text = JSON.stringify(contract, null, 2).replace(
    LIST_OF_NAMES,
    (whole, key: string, names: string, comma: string) => {
      const line = `${key}[${names.replace(/\s+/g, " ")}]${comma}`;
      return line.length <= LINE_WIDTH ? line : whole;
    },
  );
  return `${text}\n`;
}
