import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { ModelShape, ReferenceScore, Score } from "./quality-tool.ts";

/**
 * What computed: the edited engine or llama.cpp without edits; with the model's weights held in float32 or, where it
 * says so, as the file has them.
 */
export type Engine = `${"ours" | "upstream"}${"" | ", quantized weights"}`;

export interface Row extends Omit<Score, "cpuSeconds" | "wallSeconds" | "klBlocks" | "lossBlocks" | "bytes"> {
  engine: Engine;
  /** the machine, if it was not a processor alone */
  where?: string;
  /** key of the native build */
  build: string;
  /** from the formats' layouts, by packages/codecs */
  computedBytesPerToken: number;
}

/** All that is known of one model; rows of another text or other settings never meet in one file. */
export interface ModelResults {
  model: string;
  title: string;
  shape: ModelShape;
  start: number;
  length: number;
  chunkCount: number;
  /** hash of the tokens */
  chunks: string;
  reference: ReferenceScore;
  rows: Row[];
  /** caches that do not fit the model's heads */
  refused: string[];
}

const FOLDER = fileURLToPath(new URL("./results/", import.meta.url));

/** A model's committed results, if there are any. */
export async function readResults(model: string): Promise<ModelResults | undefined> {
  try {
    return JSON.parse(await readFile(`${FOLDER}${model}.json`, "utf8")) as ModelResults;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

export async function writeResults(results: ModelResults): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const path = `${FOLDER}${results.model}.json`;
  await writeFile(`${path}.new`, `${JSON.stringify(results, null, 2)}\n`);
  await rename(`${path}.new`, path);
}

export function findRow(results: ModelResults, engine: Engine, cache: string): Row | undefined {
  return results.rows.find((row) => row.engine === engine && row.cache === cache);
}

/** Puts a row in, in place of an earlier one of the same engine and cache. */
export function setRow(results: ModelResults, row: Row): void {
  const index = results.rows.findIndex((old) => old.engine === row.engine && old.cache === row.cache);
  if (index < 0) results.rows.push(row);
  else results.rows[index] = row;
}
