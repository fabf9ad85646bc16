import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../repository.ts";
import { CONTRACT_PATH, type Contract } from "./contract-file.ts";
import { differences } from "./differences.ts";
import { readEvidenceFiles } from "./evidence-files.ts";
import { judgeEvidence } from "./judge-evidence.ts";
import { type JudgedFile, makeContract } from "./make-contract.ts";
import { kernelMatrix, withMatrix } from "./matrix.ts";
import { planFacts } from "./plan-facts.ts";

export interface Gate {
  /** In what the contract, the evidence, the README and the tree do not agree. One line a fault, its code first. */
  readonly faults: readonly string[];
  /** What is no fault and must be known: evidence that only a person with the device can make again. */
  readonly notes: readonly string[];
  /** The contract that the tree and its evidence support. */
  readonly contract: Contract;
  readonly matrix: string;
}

const README = "README.md";

function committedContract(): unknown {
  const path = join(ROOT, CONTRACT_PATH);
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

function contractFaults(contract: Contract): string[] {
  try {
    return differences(committedContract(), contract).map((line) => `CONTRACT_DIFFERS ${line}`);
  } catch (error) {
    return [`CONTRACT_DIFFERS ${CONTRACT_PATH} is no JSON: ${(error as Error).message}`];
  }
}

function emptyFixtures(contract: Contract): string[] {
  return Object.keys(contract.fixtures)
    .filter((path) => statSync(join(ROOT, path)).size === 0)
    .map((path) => `FIXTURE_EMPTY ${path}`);
}

function readmeFaults(matrix: string): string[] {
  const path = join(ROOT, README);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const wanted = withMatrix(text, matrix);
  if (wanted === undefined) return [`README_MATRIX ${README} has not the matrix's two markers once each`];
  return wanted === text
    ? []
    : [`README_MATRIX the matrix in ${README} is not the one that the evidence gives`];
}

/** Derives the contract from the tree and its evidence and compares it with what is committed. Runs no kernel. */
export function readGate(): Gate {
  const { files, faults } = readEvidenceFiles();
  const notes: string[] = [];
  const factsOf = planFacts();
  const judged = files.map((file): JudgedFile => {
    const { faults: own, stale } = judgeEvidence(file, factsOf);
    faults.push(...own);
    if (own.length === 0) {
      for (const [kernel, reason] of stale) notes.push(`to be made anew: ${file.path}: ${kernel}: ${reason}`);
    }
    return { ...file, stale };
  });
  const contract = makeContract(judged, factsOf);
  const matrix = kernelMatrix(judged, factsOf);
  faults.push(...emptyFixtures(contract), ...contractFaults(contract), ...readmeFaults(matrix));
  return { faults, notes, contract, matrix };
}
