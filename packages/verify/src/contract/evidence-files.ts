import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { VerifyError } from "../errors.ts";
import { type Evidence, readEvidence } from "../evidence.ts";
import { ROOT, sha256 } from "../repository.ts";
import { EVIDENCE_FOLDER } from "./contract-file.ts";

export interface EvidenceFile {
  /** From ROOT. */
  readonly path: string;
  readonly sha256: string;
  readonly evidence: Evidence;
}

/** All files of evidence in the repository; what cannot be read, or lies where no evidence does, is a fault. */
export function readEvidenceFiles(): { files: EvidenceFile[]; faults: string[] } {
  const files: EvidenceFile[] = [];
  const faults: string[] = [];
  const folder = join(ROOT, EVIDENCE_FOLDER);
  if (!existsSync(folder)) return { files, faults };
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll("\\", "/"),
    );
  for (const name of names.sort()) {
    const path = `${EVIDENCE_FOLDER}/${name}`;
    try {
      const evidence = readEvidence(join(ROOT, path));
      files.push({ path, evidence, sha256: sha256(readFileSync(join(ROOT, path))) });
    } catch (error) {
      if (!(error instanceof VerifyError)) throw error;
      faults.push(`EVIDENCE_INVALID ${error.message.replaceAll(`${ROOT}/`, "")}`);
    }
  }
  return { files, faults };
}
