import { rm } from "node:fs/promises";
import { askProcess } from "../background/ask-process.ts";
import { mapMismatch } from "./map-errors.ts";
import type { SolveOptions } from "./solve.ts";
import type { SolveTask } from "./solve-worker.ts";
import type { Statistics } from "./statistics.ts";

/**
 * solveMap in a process of its own: a head of 256 dimensions takes some tenths of a second, during which the caller's
 * event loop would stand still.
 *
 * @throws InferenceError as solveMap; MAP_MISMATCH if the statistics' file was changed meanwhile
 */
export async function solveInBackground(
  statistics: Statistics,
  path: string,
  options: SolveOptions,
): Promise<void> {
  const task: SolveTask = { statisticsPath: statistics.path, path, options };
  const sha256 = await askProcess<string>("maps/solve-worker", task);
  if (sha256 === statistics.sha256) return;
  await rm(path, { force: true });
  throw mapMismatch(statistics.path, "the file was changed while the map was solved");
}
