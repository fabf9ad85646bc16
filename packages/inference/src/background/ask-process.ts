import { fork } from "node:child_process";
import { InferenceError, type InferenceErrorCode } from "../errors.ts";
import { packageFile } from "../package-file.ts";

/** What a process of the package answers, once: its result, or what went wrong. */
export type Answer<Result> =
  | { result: Result }
  | { failed: { code?: string; message: string; hint: string } };

/**
 * The answer of a process that runs one file of the package: for work that would hold up the caller's event loop.
 *
 * @param file below the package's sources without its ending, such as "maps/solve-worker"; see `answerOnce`
 * @param task what it works on; JSON
 * @throws InferenceError or Error as the process's own; Error where it ends without an answer
 */
export async function askProcess<Result>(file: string, task: unknown): Promise<Result> {
  // As TypeScript in the sources, as JavaScript where the package was compiled.
  const isSource = import.meta.url?.endsWith(".ts");
  const worker = fork(packageFile(`./${file}${isSource ? ".ts" : ".js"}`), [], {
    execArgv: loaders(process.execArgv),
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const answer = await new Promise<Answer<Result>>((resolve, reject) => {
    worker.once("message", (message) => resolve(message as Answer<Result>));
    worker.once("error", reject);
    worker.once("exit", (code, signal) =>
      reject(new Error(`the process of ${file} ended with ${signal ?? code}`)),
    );
    worker.send(task as object);
  });
  if ("result" in answer) return answer.result;
  const { code, message, hint } = answer.failed;
  throw code ? new InferenceError(code as InferenceErrorCode, message, hint) : new Error(message);
}

/** The other side, called once by the file that runs: works off the task that comes and answers. */
export function answerOnce<Task, Result>(work: (task: Task) => Result | Promise<Result>): void {
  process.once("message", async (task) => {
    let answer: Answer<Result>;
    try {
      answer = { result: await work(task as Task) };
    } catch (error) {
      const { message } = error as Error;
      const known = error instanceof InferenceError ? { code: error.code, hint: error.hint } : { hint: "" };
      answer = { failed: { message, ...known } };
    }
    process.send?.(answer, () => process.disconnect());
  });
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
