import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Backend } from "../device.ts";
import { VerifyError } from "../errors.ts";
import { ROOT } from "../repository.ts";

/**
 * How far a kernel has come on a backend, each including those before it. `authored`: the source is there.
 * `compiles`: the backend's compiler took it. `emulated`: our compilation for the CPU passed. `software`: a driver
 * on the CPU passed. `hardware`: a device passed. `runtime-ready`: so did the model's graph that calls it.
 */
export const STATUSES = [
  "authored",
  "compiles",
  "emulated",
  "software",
  "hardware",
  "runtime-ready",
] as const;
export type Status = (typeof STATUSES)[number];

export interface BackendClaim {
  readonly source: string;
  /** Text that the source must hold: the name of the entry point. */
  readonly symbol: string;
  readonly status: Status;
}

export interface KernelClaim {
  readonly id: string;
  readonly formats: readonly string[];
  /** What a build may report as available once this kernel is runtime-ready. */
  readonly capability: string;
  /** sha256 by path. */
  readonly fixtures: Readonly<Record<string, string>>;
  readonly backends: Readonly<Partial<Record<Backend, BackendClaim>>>;
}

export interface TargetClaim {
  readonly id: string;
  readonly backend: Backend;
  /** What is still to be shown before the target may be called supported. */
  readonly needs: string;
}

export interface Contract {
  readonly schema: 1;
  readonly capabilities: readonly string[];
  readonly kernels: readonly KernelClaim[];
  readonly targets: readonly TargetClaim[];
}

export const CONTRACT_PATH = "contract/kernel-contract.json";
export const SCHEMA_PATH = "contract/kernel-contract.schema.json";
export const EVIDENCE_FOLDER = "contract/evidence";

/**
 * Reads a JSON file of the repository.
 * @throws VerifyError EVIDENCE_INVALID if it is missing or no JSON
 */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(join(ROOT, path), "utf8"));
  } catch (error) {
    throw new VerifyError("EVIDENCE_INVALID", `${path} cannot be read`, (error as Error).message, error);
  }
}
