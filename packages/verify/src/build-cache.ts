import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { userFolders } from "@eliza-inference/fetch";
import { VerifyError } from "./errors.ts";
import { sha256 } from "./repository.ts";

/**
 * The built form of `inputs`, from ELIZA_VERIFY_PREBUILT, from the user's cache, or made now.
 * Files are named by the hash of what they are made from, so a changed source is never confused with an old one.
 * @param build writes the file whose path it is given
 */
export function cached(inputs: readonly string[], extension: string, build: (path: string) => void): string {
  const name = `${sha256(inputs.join("\0")).slice(0, 32)}.${extension}`;
  const prebuilt = process.env.ELIZA_VERIFY_PREBUILT;
  if (prebuilt && existsSync(join(prebuilt, name))) return join(prebuilt, name);
  const folder = join(userFolders().cache, "kernels");
  const path = join(folder, name);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const partial = join(folder, `${process.pid}-${Date.now()}-${name}`);
  try {
    build(partial);
    renameSync(partial, path);
  } finally {
    rmSync(partial, { force: true });
  }
  return path;
}

/** Whether a compiler can be run here. */
export function hasTool(command: string): boolean {
  try {
    execFileSync(command, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/**
 * Runs a compiler.
 * @throws VerifyError TOOL_MISSING when it is not installed, KERNEL_BUILD with its output when it refuses
 */
export function compile(command: string, args: readonly string[], source: string, install: string): void {
  try {
    execFileSync(command, args, { stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      throw new VerifyError("TOOL_MISSING", `${command} is not installed`, install, error);
    }
    const { stderr = "", stdout = "" } = error as { stderr?: string; stdout?: string };
    throw new VerifyError(
      "KERNEL_BUILD",
      `${source} does not compile:\n${(stderr + stdout).slice(0, 8000)}`,
      "mend the source",
      error,
    );
  }
}
