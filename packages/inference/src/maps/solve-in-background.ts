import { fork } from "node:child_process";
import { rm } from "node:fs/promises";
import { InferenceError, type InferenceErrorCode } from "../errors.ts";
import { packageFile } from "../package-file.ts";
import { mapMismatch } from "./map-errors.ts";
import type { SolveOptions } from "./solve.ts";
import type { SolveAnswer, SolveTask } from "./solve-worker.ts";
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
  const worker = fork(workerFile(), [JSON.stringify(task)], {
    execArgv: loaders(process.execArgv),
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const answer = await new Promise<SolveAnswer>((resolve, reject) => {
    worker.once("message", (message) => resolve(message as SolveAnswer));
    worker.once("error", reject);
    worker.once("exit", (code, signal) =>
      reject(new Error(`the process that solves the map ended with ${signal ?? code}`)),
    );
  });
  if ("failed" in answer) {
    const { code, message, hint } = answer.failed;
    throw code ? new InferenceError(code as InferenceErrorCode, message, hint) : new Error(message);
  }
  if (answer.statisticsSha256 !== statistics.sha256) {
    await rm(path, { force: true });
    throw mapMismatch(statistics.path, "the file was changed while the map was solved");
  }
}

/** As TypeScript in the sources, as JavaScript where the package was compiled. */
function workerFile(): string {
  const isSource = import.meta.url?.endsWith(".ts");
  return packageFile(`./maps/solve-worker${isSource ? ".ts" : ".js"}`);
}

/** Of Node's own arguments, those by which it finds and reads modules: a debugger or a script of -e is not for another process. */
function loaders(args: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const [name = "", value] = args[at]!.split("=", 2);
    if (
      !["--conditions", "-C", "--import", "--loader", "--experimental-loader", "--require", "-r"].includes(
        name,
      )
    )
      continue;
    kept.push(args[at]!);
    if (value === undefined && at + 1 < args.length) kept.push(args[++at]!);
  }
  return kept;
}
