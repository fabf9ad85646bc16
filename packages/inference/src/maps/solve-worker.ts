/** The process that solve-in-background.ts starts: solves one map and answers with its statistics' sha256. */
import { answerOnce } from "../background/ask-process.ts";
import { type SolveOptions, solveMap } from "./solve.ts";
import { Statistics } from "./statistics.ts";

export interface SolveTask {
  statisticsPath: string;
  path: string;
  options: SolveOptions;
}

answerOnce(async ({ statisticsPath, path, options }: SolveTask): Promise<string> => {
  const statistics = await Statistics.open(statisticsPath);
  await solveMap(statistics, path, options);
  return statistics.sha256;
});
