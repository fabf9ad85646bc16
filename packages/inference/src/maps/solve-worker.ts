/** The process that solve-in-background.ts starts: solves one map and says how it went. */
import { InferenceError } from "../errors.ts";
import { type SolveOptions, solveMap } from "./solve.ts";
import { Statistics } from "./statistics.ts";

/** What the process is given, as JSON. */
export interface SolveTask {
  statisticsPath: string;
  path: string;
  options: SolveOptions;
}

/** What it answers, once. */
export type SolveAnswer =
  | { statisticsSha256: string }
  | { failed: { code?: string; message: string; hint: string } };

const { statisticsPath, path, options } = JSON.parse(process.argv[2] ?? "{}") as SolveTask;
let answer: SolveAnswer;
try {
  const statistics = await Statistics.open(statisticsPath);
  await solveMap(statistics, path, options);
  answer = { statisticsSha256: statistics.sha256 };
} catch (error) {
  const { message } = error as Error;
  answer = {
    failed:
      error instanceof InferenceError
        ? { code: error.code, message, hint: error.hint }
        : { message, hint: "" },
  };
}
process.send?.(answer);
