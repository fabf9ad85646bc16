import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { ReferenceScore, Score } from "../cache-types/quality-tool.ts";

/** Every cache that was scored on one text at one length. */
export interface Run {
  model: string;
  title: string;
  /** what the text is, and the sha256 of its tokens, 16 digits */
  text: string;
  tokens: string;
  length: number;
  /** positions before it are not scored */
  start: number;
  weights: "float32" | "as in the file";
  calibration: { tokens: number; window: number; text: string; spread: boolean; values: boolean };
  reference: ReferenceScore;
  rows: Score[];
}

const FOLDER = fileURLToPath(new URL("./results/", import.meta.url));

export async function readRuns(): Promise<Run[]> {
  const names = (await readdir(FOLDER).catch((): string[] => [])).filter((name) => name.endsWith(".json"));
  return Promise.all(
    names.sort().map(async (name) => JSON.parse(await readFile(`${FOLDER}${name}`, "utf8")) as Run),
  );
}

export async function writeRun(run: Run): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const { model, length, calibration, text } = run;
  const name = `${model}-${text.replace(/\W+/g, "-")}-${length}-${calibration.tokens}${calibration.spread ? "" : "-unspread"}${calibration.values ? "-values" : ""}`;
  await writeFile(`${FOLDER}${name}.json.new`, `${JSON.stringify(run, null, 1)}\n`);
  await rename(`${FOLDER}${name}.json.new`, `${FOLDER}${name}.json`);
}

/** The row of a cache, if it was scored. */
export function rowOf(run: Run, cache: string): Score | undefined {
  return run.rows.find((row) => row.cache === cache);
}
