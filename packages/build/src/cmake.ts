import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { BuildError } from "./errors.ts";

export type BuildProgress = (event: { step: number; of: number; line: string }) => void;

/** Runs a build command, its whole output in `log`; `[step/of]` lines of ninja become progress. Throws BUILD_FAILED. */
export async function runLogged(
  command: string,
  args: string[],
  log: string,
  onProgress?: BuildProgress,
): Promise<void> {
  const output = createWriteStream(log, { flags: "a" });
  output.write(`$ ${command} ${args.join(" ")}\n`);
  const tail: string[] = [];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  let rest = "";
  const take = (chunk: Buffer): void => {
    output.write(chunk);
    const lines = (rest + chunk.toString("utf8")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      tail.push(line);
      if (tail.length > 40) tail.shift();
      const match = /^\[(\d+)\/(\d+)\] (.*)/.exec(line);
      if (match) onProgress?.({ step: Number(match[1]), of: Number(match[2]), line: match[3] ?? "" });
    }
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  const status = await new Promise<number | string>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  await new Promise((resolve) => output.end(resolve));
  if (status !== 0) {
    const errors = tail.filter((line) => /error/i.test(line));
    throw new BuildError(
      "BUILD_FAILED",
      `${command} ended with ${status}:\n${(errors.length > 0 ? errors : tail).slice(-12).join("\n")}`,
      `the whole output is in ${log}`,
    );
  }
}
