import { type ChildProcess, spawn } from "node:child_process";
import { openSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

const folder = await mkdtemp(join(tmpdir(), "eliza-cli-"));
after(() => rm(folder, { recursive: true, force: true }));

/** A model file for the fake engine. */
export async function modelFile(name: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, "GGUF");
  return path;
}

export interface Ran {
  status: number | null;
  out: string;
  err: string;
}

export interface RunOptions {
  script?: string;
  /** Standard input; nothing when absent. */
  input?: string;
  environment?: Readonly<Record<string, string>>;
  /** A file that takes stdout, in place of `out`. */
  outFile?: string;
  /** Called with every piece of stdout so far. */
  onOut?: (out: string, child: ChildProcess) => void;
}

/** The program in a child process with its own empty cache folder and the fake engine. */
export async function runProgram(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const script = fileURLToPath(new URL(options.script ?? "./fake-main.ts", import.meta.url));
  const child = spawn(
    process.execPath,
    ["--conditions=source", "--import", import.meta.resolve("tsx"), script, ...args],
    {
      env: { ...process.env, ELIZA_INFERENCE_CACHE: join(folder, "cache"), ...options.environment },
      stdio: ["pipe", options.outFile === undefined ? "pipe" : openSync(options.outFile, "w"), "pipe"],
    },
  );
  let out = "";
  let err = "";
  child.stdout?.on("data", (piece) => {
    out += piece;
    options.onOut?.(out, child);
  });
  child.stderr?.on("data", (piece) => (err += piece));
  child.stdin?.on("error", () => {});
  child.stdin?.end(options.input ?? "");
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { status, out, err };
}

/** The JSON lines of an output. */
export function jsonLines(out: string): Record<string, unknown>[] {
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
