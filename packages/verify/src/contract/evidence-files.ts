import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { VerifyError } from "../errors.ts";
import { type Evidence, type KernelEvidence, kernelSourceHash, readEvidence } from "../evidence.ts";
import { kernelById } from "../kernels.ts";
import { formatHashes } from "../plan.ts";
import { ROOT, sha256 } from "../repository.ts";
import { EVIDENCE_FOLDER } from "./contract-file.ts";

/** Drivers that run on the CPU, whatever kind a file says. */
const SOFTWARE = /llvmpipe|lavapipe|swiftshader|softpipe|software|mock|emulat/i;

export interface EvidenceFile {
  readonly path: string;
  readonly evidence: Evidence;
}

/** All files of evidence in a repository; what cannot be read is a fault. */
export function readEvidenceFiles(): { files: EvidenceFile[]; faults: string[] } {
  const files: EvidenceFile[] = [];
  const faults: string[] = [];
  const folder = join(ROOT, EVIDENCE_FOLDER);
  if (!existsSync(folder)) return { files, faults };
  for (const backend of readdirSync(folder).sort()) {
    for (const name of readdirSync(join(folder, backend)).sort()) {
      const path = `${EVIDENCE_FOLDER}/${backend}/${name}`;
      try {
        files.push({ path, evidence: readEvidence(join(ROOT, path)) });
      } catch (error) {
        if (!(error instanceof VerifyError)) throw error;
        faults.push(`EVIDENCE_INVALID ${error.message}`);
      }
    }
  }
  return { files, faults };
}

/** Whether a file passes a driver on the CPU off as hardware. The CPU backend's hardware is the CPU. */
export function isDisguised({ evidence }: EvidenceFile): boolean {
  if (evidence.kind !== "hardware" || evidence.backend === "cpu") return false;
  return SOFTWARE.test(evidence.device) || SOFTWARE.test(evidence.driver);
}

/** Why a kernel's evidence no longer speaks of this tree, or undefined. */
export function staleness(evidence: Evidence, kernel: string, entry: KernelEvidence): string | undefined {
  const known = kernelById(kernel);
  if (!known) return "the harness has no such kernel";
  let source: string;
  try {
    source = kernelSourceHash(evidence.backend, kernel);
  } catch {
    return `${entry.source.path} is not there`;
  }
  if (source !== entry.source.sha256) return `${entry.source.path} has changed`;
  for (const [path, hash] of Object.entries(entry.fixtures)) {
    if (!existsSync(join(ROOT, path))) return `${path} is not there`;
    if (sha256(readFileSync(join(ROOT, path))) !== hash) return `${path} has changed`;
  }
  if (sha256(formatHashes(known).join("\n")) !== entry.formats) return "the formats have changed";
  return undefined;
}
