import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { userFolders } from "@eliza-inference/fetch";
import { z } from "zod";
import { VerifyError } from "./errors.ts";
import { sha256 } from "./repository.ts";

/** A built form of a kernel, and what it was built from. */
export interface Artefact {
  readonly path: string;
  /** Hash of its sources. */
  readonly sources: string;
  /** Hash of its content. */
  readonly sha256: string;
}

const Label = z.object({ sources: z.string(), sha256: z.string() });

/** The artefact at `path` if it is there whole: its label says what content it was built with. */
function readArtefact(path: string): Artefact | undefined {
  if (!existsSync(path) || !existsSync(`${path}.json`)) return undefined;
  const label = Label.parse(JSON.parse(readFileSync(`${path}.json`, "utf8")));
  return sha256(readFileSync(path)) === label.sha256 ? { path, ...label } : undefined;
}

/**
 * The built form of sources, from ELIZA_VERIFY_PREBUILT, from the user's cache, or made now.
 * Files are named by the hash of what they are made from, so a changed source is never confused with an old one, and
 * labelled with the hash of their content, so that another file in their place is not taken for them.
 * @param sources hash of the sources
 * @param flags all else that decides the content
 * @param build writes the file whose path it is given
 */
export function cached(
  sources: string,
  flags: readonly string[],
  extension: string,
  build: (path: string) => void,
): Artefact {
  const name = `${sha256([sources, ...flags].join("\0")).slice(0, 32)}.${extension}`;
  const prebuilt = process.env.ELIZA_VERIFY_PREBUILT;
  const folder = join(userFolders().cache, "kernels");
  const path = join(folder, name);
  const known = (prebuilt ? readArtefact(join(prebuilt, name)) : undefined) ?? readArtefact(path);
  if (known) return known;
  mkdirSync(folder, { recursive: true });
  const partial = join(folder, `${process.pid}-${Date.now()}-${name}`);
  try {
    build(partial);
    const label = { sources, sha256: sha256(readFileSync(partial)) };
    writeFileSync(`${partial}.json`, JSON.stringify(label));
    renameSync(partial, path);
    renameSync(`${partial}.json`, `${path}.json`);
    return { path, ...label };
  } finally {
    rmSync(partial, { force: true });
    rmSync(`${partial}.json`, { force: true });
  }
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
