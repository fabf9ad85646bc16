import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { ReferenceScore, Score } from "../cache-types/quality-tool.ts";

/** How a map came about. */
export interface Calibration {
  tokens: number;
  /** tokens of a text seen at once */
  window: number;
  text: string;
  /** solved for the context's positions, not only for the window's */
  spread: boolean;
  /** values go through it too, not keys alone */
  values: boolean;
}

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
  pieces: number;
  /** key of the native build that scored last */
  build: string;
  weights: "float32" | "as in the file";
  /** the machine, if it was not a processor alone */
  where?: string;
  /** by the name behind a cache's + */
  maps: Record<string, Calibration>;
  reference: ReferenceScore;
  rows: Score[];
}

const FOLDER = fileURLToPath(new URL("./results/", import.meta.url));

export async function readRuns(): Promise<Run[]> {
  const names = (await readdir(FOLDER).catch((): string[] => [])).filter((name) => name.endsWith(".json"));
  return Promise.all(
    names.sort().map(async (name) => JSON.parse(await readFile(`${FOLDER}${name}`, "utf8"), revived) as Run),
  );
}

/** Keeps a run. */
export async function writeRun(run: Run): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const path = `${FOLDER}${run.model}-${run.text.replace(/\W+/g, "-")}-${run.length}${run.where ? "-gpu" : ""}.json`;
  await writeFile(`${path}.new`, `${JSON.stringify(run, compacted, 1)}\n`);
  await rename(`${path}.new`, path);
}

/** The row of a cache, if it was scored. */
export function rowOf(run: Run, cache: string): Score | undefined {
  return run.rows.find((row) => row.cache === cache);
}

// blocks in one line of few digits each
export function compacted(key: string, value: unknown): unknown {
  return key.endsWith("Blocks") ? (value as number[]).map((each) => each.toPrecision(5)).join(" ") : value;
}

export function revived(key: string, value: unknown): unknown {
  return key.endsWith("Blocks") ? (value as string).split(" ").map(Number) : value;
}
