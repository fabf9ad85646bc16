import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { ReferenceScore, Score } from "../cache-types/quality-tool.ts";
import { compacted, revived } from "../learned-maps/results.ts";

export interface WindowRow extends Score {
  /** the machine that computed it */
  where: string;
}

/** Every cache that was scored on the same positions of one model. */
export interface WindowRun {
  model: string;
  title: string;
  text: string;
  length: number;
  /** positions before it are not scored */
  start: number;
  pieces: number;
  reference: ReferenceScore;
  rows: WindowRow[];
}

const FOLDER = fileURLToPath(new URL("./results/", import.meta.url));

/** The kept runs, of each model and length those with most positions first. */
export async function readWindowRuns(): Promise<WindowRun[]> {
  const names = (await readdir(FOLDER).catch((): string[] => [])).filter((name) => name.endsWith(".json"));
  const runs = await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(`${FOLDER}${name}`, "utf8"), revived) as WindowRun),
  );
  return runs.sort((a, b) => positionsOf(b) - positionsOf(a));
}

export const positionsOf = (run: WindowRun): number => run.pieces * (run.length - run.start);

export async function writeWindowRun(run: WindowRun): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const path = `${FOLDER}${run.model}-${run.length}-${run.length - run.start}.json`;
  await writeFile(`${path}.new`, `${JSON.stringify(run, compacted, 1)}\n`);
  await rename(`${path}.new`, path);
}

/** A pair of types read in some way, and the run that has it; the run with most positions, if there are several. */
export function findCache(
  runs: readonly WindowRun[],
  model: string,
  length: number,
  cache: string,
): { row: WindowRow; run: WindowRun } | undefined {
  for (const run of runs) {
    if (run.model !== model || run.length !== length) continue;
    const row = run.rows.find((each) => each.cache === cache);
    if (row) return { row, run };
  }
  return undefined;
}

/** How much a cache raises the perplexity, and half of its 95 % interval: shares of one. */
export function perplexityRise({ perplexityRatio, lossBlocks }: Score): { rise: number; halfWidth: number } {
  const n = lossBlocks.length;
  const mean = lossBlocks.reduce((sum, value) => sum + value, 0) / n;
  const variance = lossBlocks.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  return { rise: perplexityRatio - 1, halfWidth: 1.96 * perplexityRatio * Math.sqrt(variance / n) };
}
