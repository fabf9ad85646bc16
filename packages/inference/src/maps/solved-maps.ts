import { createHash } from "node:crypto";
import { access, constants, mkdir, readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { diskError, userFolders } from "@eliza-inference/fetch";
import { InferenceError } from "../errors.ts";
import { readGguf } from "../gguf/index.ts";
import { type SolveOptions, solverVersion } from "./solve.ts";
import { solveInBackground } from "./solve-in-background.ts";
import type { Statistics } from "./statistics.ts";

/** Solved maps that stay in the cache; beyond them the one that was not used for longest goes. */
const keptMaps = 16;

/**
 * The solved map for a context: from the user's cache, or solved now and put there.
 *
 * @returns the file for the engine's option kv_map
 * @throws InferenceError as solveMap
 */
export async function solvedMap(statistics: Statistics, options: SolveOptions): Promise<string> {
  const folder = join(userFolders().cache, "maps");
  const key = createHash("sha256")
    .update(
      JSON.stringify([
        ...[statistics.sha256, options.contextSize, options.unspread === true, options.values === true],
        solverVersion,
      ]),
    )
    .digest("hex");
  const path = join(folder, `${key.slice(0, 32)}.gguf`);
  if (await isWhole(path)) {
    const now = new Date();
    await utimes(path, now, now).catch(() => {});
    return path;
  }
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
  } catch (cause) {
    const { code, message } = diskError(cause, folder);
    throw new InferenceError(
      code,
      `the map of the cache has to be solved once and kept, and ${message}`,
      'Name a folder that can be written in ELIZA_INFERENCE_CACHE, or open the model with kvMap "off".',
      { cause },
    );
  }
  await solveInBackground(statistics, path, options);
  await dropOldest(folder);
  return path;
}

/** A cached file is not trusted: its matrices must have the hash that it states. */
async function isWhole(path: string): Promise<boolean> {
  try {
    const { metadata, tensors } = await readGguf(path);
    const bytes = await readFile(path);
    const hash = createHash("sha256");
    for (const { name, offset, bytes: length } of tensors) {
      hash.update(name);
      hash.update(bytes.subarray(offset, offset + length));
    }
    return hash.digest("hex") === metadata.get("map.sha256");
  } catch {
    return false;
  }
}

async function dropOldest(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".gguf"));
  const aged = await Promise.all(
    names.map(async (name) => ({ name, used: (await stat(join(folder, name))).mtimeMs })),
  );
  aged.sort((a, b) => b.used - a.used);
  for (const { name } of aged.slice(keptMaps)) await rm(join(folder, name), { force: true });
}
