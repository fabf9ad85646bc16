import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cpuSourceHash } from "./cpu/build-library.ts";
import type { Backend, DeviceDescription, DeviceKind } from "./device.ts";
import { VerifyError } from "./errors.ts";
import { kernelById } from "./kernels.ts";
import { fixturesOf, formatHashes } from "./plan.ts";
import { ROOT, sha256, sourceHash } from "./repository.ts";
import { TOOL_VERSION } from "./tool-version.ts";
import type { DeviceReport, KernelVerdict } from "./verify.ts";

/** What one kernel showed on one device. Everything it depends on is there by hash. */
export interface KernelEvidence {
  readonly source: { readonly path: string; readonly sha256: string };
  readonly fixtures: Readonly<Record<string, string>>;
  /** Identity hashes of the formats that the cases were made with. */
  readonly formats: string;
  readonly cases: number;
  readonly failed: number;
  /** Largest difference as a share of Σ|q_i k_i|; null if a result was not a number. */
  readonly maxDifference: number | null;
  readonly configurations: readonly string[];
  readonly milliseconds: number;
  readonly tool: string;
  readonly date: string;
}

/** A file of contract/evidence. Only `verify` writes them; `seal` covers all the rest. */
export interface Evidence {
  readonly schema: 1;
  readonly backend: Backend;
  readonly device: string;
  readonly kind: DeviceKind;
  readonly driver: string;
  readonly kernels: Readonly<Record<string, KernelEvidence>>;
  readonly seal: string;
}

const EXTENSION: Readonly<Record<Exclude<Backend, "cpu">, string>> = {
  vulkan: "comp",
  metal: "metal",
  cuda: "cu",
};

/** From ROOT, the source that a kernel has in a backend's language. */
export function sourcePath(backend: Backend, kernel: string): string {
  return backend === "cpu" ? "kernels/cpu" : `kernels/${backend}/${kernel}.${EXTENSION[backend]}`;
}

/** Hash of a kernel's source and all that it includes. On the CPU the library is one. */
export function kernelSourceHash(backend: Backend, kernel: string): string {
  return backend === "cpu" ? cpuSourceHash() : sourceHash(sourcePath(backend, kernel));
}

/** Hash over a file's content without its seal, keys in order, so that an edit by hand shows. */
export function sealOf(evidence: Omit<Evidence, "seal">): string {
  const { seal: _, ...content } = evidence as Evidence;
  return sha256(`eliza-inference evidence 1\n${canonical(content)}`);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonical(entry)}`).join(",")}}`;
}

function kernelEvidence(backend: Backend, verdict: KernelVerdict): KernelEvidence {
  const kernel = kernelById(verdict.kernel)!;
  const { maxDifference } = verdict;
  return {
    source: { path: sourcePath(backend, kernel.id), sha256: kernelSourceHash(backend, kernel.id) },
    fixtures: Object.fromEntries(
      fixturesOf(kernel).map((path) => [path, sha256(readFileSync(join(ROOT, path)))]),
    ),
    formats: sha256(formatHashes(kernel).join("\n")),
    cases: verdict.cases,
    failed: verdict.failures.length,
    maxDifference: Number.isFinite(maxDifference) ? maxDifference : null,
    configurations: verdict.configurations,
    milliseconds: Math.round(verdict.milliseconds),
    tool: TOOL_VERSION,
    date: new Date().toISOString().slice(0, 10),
  };
}

/** A device's file under the evidence folder: its model without versions and punctuation. */
export function evidenceName(description: DeviceDescription): string {
  if (description.kind === "compiled") return `${description.backend}/compiled.json`;
  const model =
    description.kind === "emulated" ? `emulated-${process.arch}` : description.model.replace(/\(.*\)/, "");
  const slug = model
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return `${description.backend}/${slug || "device"}.json`;
}

/**
 * Writes what a device showed, keeping what the file says of kernels that were not run this time.
 * @param folder for example contract/evidence
 * @returns the path written, or undefined where the device gave nothing
 */
export function writeEvidence(folder: string, report: DeviceReport): string | undefined {
  const { description, kernels } = report;
  if (!description || kernels.length === 0) return undefined;
  const path = join(folder, evidenceName(description));
  const before = existsSync(path) ? readEvidence(path).kernels : {};
  const now = Object.fromEntries(
    kernels.map((verdict) => [verdict.kernel, kernelEvidence(description.backend, verdict)]),
  );
  const content = {
    schema: 1 as const,
    backend: description.backend,
    device: description.model,
    kind: description.kind,
    driver: description.driver,
    kernels: { ...before, ...now },
  };
  mkdirSync(dirname(path), { recursive: true });
  const partial = `${path}.${process.pid}`;
  writeFileSync(partial, `${JSON.stringify({ ...content, seal: sealOf(content) }, null, 2)}\n`);
  renameSync(partial, path);
  return path;
}

/**
 * Reads a file of evidence.
 * @throws VerifyError EVIDENCE_INVALID if it is no JSON, of another schema, or changed since `verify` wrote it
 */
export function readEvidence(path: string): Evidence {
  let evidence: Evidence;
  try {
    evidence = JSON.parse(readFileSync(path, "utf8")) as Evidence;
  } catch (error) {
    throw new VerifyError("EVIDENCE_INVALID", `${path} is no JSON`, "delete it and run verify again", error);
  }
  if (evidence.schema !== 1) {
    throw new VerifyError("EVIDENCE_INVALID", `${path} has schema ${evidence.schema}`, "run verify again");
  }
  if (sealOf(evidence) !== evidence.seal) {
    throw new VerifyError(
      "EVIDENCE_INVALID",
      `${path} does not match its seal: it was changed after verify wrote it`,
      "run verify again on that device",
    );
  }
  return evidence;
}
