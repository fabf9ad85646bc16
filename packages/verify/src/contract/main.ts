// npm run contract: checks the contract. --write makes it anew, with the README's matrix; --table prints the matrix.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../repository.ts";
import type { Schema } from "./check-schema.ts";
import { CONTRACT_PATH, readJson, SCHEMA_PATH } from "./contract-file.ts";
import { readEvidenceFiles } from "./evidence-files.ts";
import { makeContract } from "./make-contract.ts";
import { kernelMatrix, withMatrix } from "./matrix.ts";
import { contractFaults } from "./rules.ts";

function replaceFile(path: string, content: string): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

const LINE_WIDTH = 110;
const LIST_OF_NAMES = /^( *"[^"\n]*": )\[\s+("[^"\n]*"(?:,\s+"[^"\n]*")*)\s+\](,?)$/gm;

/** JSON as the repository's formatter has it: lists of names on one line where they fit. */
function contractText(contract: unknown): string {
  const text = JSON.stringify(contract, null, 2).replace(
    LIST_OF_NAMES,
    (whole, key: string, names: string, comma: string) => {
      const line = `${key}[${names.replace(/\s+/g, " ")}]${comma}`;
      return line.length <= LINE_WIDTH ? line : whole;
    },
  );
  return `${text}\n`;
}

const { files, faults } = readEvidenceFiles();
const matrix = kernelMatrix(files);
const readmePath = join(ROOT, "README.md");
const readme = readFileSync(readmePath, "utf8");

if (process.argv.includes("--table")) {
  console.log(matrix);
} else {
  if (process.argv.includes("--write")) {
    replaceFile(join(ROOT, CONTRACT_PATH), contractText(makeContract(files)));
    const updated = withMatrix(readme, matrix);
    if (updated !== undefined && updated !== readme) replaceFile(readmePath, updated);
  }
  faults.push(...contractFaults(readJson(CONTRACT_PATH), readJson(SCHEMA_PATH) as Schema, files));
  const wanted = withMatrix(readFileSync(readmePath, "utf8"), matrix);
  if (wanted !== undefined && wanted !== readFileSync(readmePath, "utf8")) {
    faults.push("README_MATRIX the matrix in README.md is not the one that the evidence gives");
  }
  for (const fault of faults) console.error(fault);
  console.log(
    faults.length === 0
      ? `contract: holds, ${files.length} files of evidence`
      : `contract: ${faults.length} faults`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
}
